import { directNetwork, type NetworkSettings } from '@shoal/network'

/** The numbers that a pull goes by. */
export type Tuning = {
  /** A connection that is silent for so long is given up. */
  stallMs: number
  /** A pull that gets no byte for so long fails. */
  timeoutMs: number
  /** The longest of the growing waits between attempts. */
  maxWaitMs: number
  /** The fresh bytes that may wait for the hasher; more would fall out of the page cache. */
  windowBytes: number
  /** A file of at most so many chunks is fetched in this thread: three workers take longer to start. */
  inlineChunks: number
  /** The time over which a request's rate is compared with that of others, before it is called slow. */
  slowAfterMs: number
  /** So often the journal is written and progress is reported. */
  tickMs: number
  /** A pull that is over sooner is not worth a swarm. */
  joinAfterMs: number
  /** A registry that brings so many bytes a second by itself needs no help of peers. */
  fastBytesPerSecond: number
  /** How long a swarm has to show that it brings more than the registry; the other intervals of taking turns follow from it. */
  turnMs: number
}

const defaultTuning: Omit<Tuning, 'stallMs' | 'timeoutMs'> = {
  maxWaitMs: 2_000, // so soon a registry that is back is noticed
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
