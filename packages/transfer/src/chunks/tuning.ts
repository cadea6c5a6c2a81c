import { directNetwork, type NetworkSettings } from '@shoal/network'

/** The parameters of a pull. */
export type Tuning = {
  /** A connection that is silent for this long is closed. */
  stallMs: number
  /** A pull that receives no byte for this long fails. */
  timeoutMs: number
  /** Maximum of the growing waits between attempts. */
  maxWaitMs: number
  /** Bytes that may wait for the hasher; more would fall out of the page cache. */
  windowBytes: number
  /** A file with at most this many chunks is fetched in this thread: three workers take longer to start. */
  inlineChunks: number
  /** The time over which a request's rate is compared with that of others before it is called slow. */
  slowAfterMs: number
  /** How often the journal is written and progress is reported. */
  tickMs: number
  /** A shorter pull is not worth a swarm. */
  joinAfterMs: number
  /** A registry that delivers this many bytes a second needs no help from peers. */
  fastBytesPerSecond: number
  /**
   * How long a swarm has to show that it is faster than the registry; the other intervals of taking turns are derived
   * from it.
   */
  turnMs: number
}

const defaultTuning: Omit<Tuning, 'stallMs' | 'timeoutMs'> = {
  maxWaitMs: 2_000, // so that a registry that is back is noticed soon
  windowBytes: 512 * 1024 * 1024,
  inlineChunks: 4,
  slowAfterMs: 3000,
  tickMs: 100,
  joinAfterMs: 1000,
  fastBytesPerSecond: 60e6,
  turnMs: 6_000,
}

/** With the timeouts of the network, unless others are given. */
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
