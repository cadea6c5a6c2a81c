import { directNetwork, type NetworkSettings } from '@shoal/network'

/** The timeouts, intervals and limits of a pull. */
export type Tuning = {
  /** A connection that is silent for this long is closed. */
  stallMs: number
  /** A pull that receives nothing for this long fails. */
  timeoutMs: number
  /** Maximum delay between attempts. The delays increase until they reach this maximum. */
  maxWaitMs: number
  /**
   * Maximum number of bytes that may wait for the hasher. More bytes would be evicted from the page cache before they
   * were hashed.
   */
  windowBytes: number
  /**
   * A file with at most this many chunks is downloaded in the calling thread, because starting three threads would take
   * longer.
   */
  inlineChunks: number
  /**
   * The period over which the rate of a request is compared with the rates of other requests to determine whether the
   * request is slow.
   */
  slowAfterMs: number
  /** How often the journal is written and progress is reported. */
  tickMs: number
  /** How long a pull runs before it looks for peers. Joining a swarm is not worthwhile for a shorter pull. */
  joinAfterMs: number
  /** A registry that delivers this many bytes a second needs no help from peers. */
  fastBytesPerSecond: number
  /**
   * How long a swarm has to deliver its first piece, and then to prove that it helps. The other intervals for switching
   * between the swarm and the registry are derived from this one.
   */
  turnMs: number
}

const defaultTuning: Omit<Tuning, 'stallMs' | 'timeoutMs'> = {
  maxWaitMs: 2_000, // short, so that it is soon noticed when a registry is back online
  windowBytes: 512 * 1024 * 1024,
  inlineChunks: 4,
  slowAfterMs: 3000,
  tickMs: 100,
  joinAfterMs: 1000,
  fastBytesPerSecond: 60e6,
  turnMs: 6_000,
}

/** Returns the default tuning with the timeouts of `network`. Values in `tuning` take precedence over both. */
export function makeTuning({
  tuning,
  network = directNetwork,
}: {
  tuning?: Partial<Tuning> | undefined
  network?: NetworkSettings | undefined
}): Tuning {
  const { stallMs, giveUpMs: timeoutMs } = network.timeouts
  return { ...defaultTuning, stallMs, timeoutMs, ...tuning }
}
