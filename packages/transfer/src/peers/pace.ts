import { type Clock, every, waitingClock } from '@shoal/core/async'

/**
 * The source that delivers the chunks: either only the registry, with requests for whole chunks, or the swarm, which
 * includes the registry.
 */
export type Side = 'registry' | 'swarm'

type Readings = {
  /** Bytes received from requests to the registry. */
  registryBytes(): number
  /** Bytes received through the swarm. */
  swarmBytes(): number
  /** Number of other peers in the swarm. */
  peers(): number
  /** Number of peers that are also pulling the file, and would share the registry's bandwidth. */
  pullers(): number
}

type PaceOptions = {
  /**
   * A registry that delivers this many bytes per second needs no help. Receiving bytes as pieces takes several times as
   * much work as receiving them as chunks.
   */
  fastBytesPerSecond: number
  /** How long a swarm has to deliver its first piece, and then to prove that it helps. */
  turnMs: number
  /**
   * Until a swarm has delivered this many bytes, it has more time to prove that it helps, because a busy machine
   * receives few pieces.
   */
  sampleBytes: number
  /** Whether bytes are requested only from peers, never from the registry. */
  onlyPeers: boolean
  clock?: Clock
}

/** A swarm that delivers less than this share of the registry's rate is not worthwhile. */
const worthwhile = 0.7
/**
 * The same limit for a swarm with other pullers. It is lower because, if they all returned to the registry, each of
 * them would receive less from it than when its rate was measured.
 */
const worthwhileWithPullers = 0.3
/** Intervals, as multiples of `turnMs`. */
const pollEvery = 1 / 12
const settledAfter = 1 / 4
const lonelyAfter = 2 / 3
const rejoinAfter = 10
const sampleTimeout = 3

/** Lets only one side work at a time. */
export interface Pace {
  /** The side whose turn it is. */
  side(): Side
  /**
   * Resolves when it is the side's turn, or when the pull is over. The result is a signal that is aborted at the end of
   * the turn.
   */
  turn(of: Side): Promise<AbortSignal>
  /** Ends all waits for a turn. */
  close(): void
}

/**
 * Starts the first turn, which is the registry's. If the registry is slow and the swarm has other peers, the swarm
 * takes over. If the swarm loses its other peers, or turns out to be clearly slower than the registry, the registry
 * takes over again. With `onlyPeers`, it is always the swarm's turn.
 */
export function pace(
  readings: Readings,
  { fastBytesPerSecond, turnMs, sampleBytes, onlyPeers, clock = waitingClock }: PaceOptions,
): Pace {
  let side: Side = onlyPeers ? 'swarm' : 'registry'
  let turnController = new AbortController()
  let began = clock.now()
  let bytesAtBegin = 0
  /**
   * What started the measurement of the side's rate: its first bytes in this turn, or the end of the time that it had
   * to deliver any. Undefined until then.
   */
  let measuredSince: 'first bytes' | 'timeout' | undefined
  let seenBytes = 0
  let seenAt = began
  let registryRate = 0
  let lonelySince: number | undefined
  let notBefore = 0
  let isOver = false
  const waiting = new Set<() => void>()

  const getBytes = (of: Side) => (of === 'swarm' ? readings.swarmBytes() : readings.registryBytes())

  function give(to: Side) {
    side = to
    measuredSince = undefined
    measureFrom(clock.now())
    lonelySince = undefined
    const before = turnController
    turnController = new AbortController()
    before.abort(new Error(`the pull switched to the ${to}`))
    for (const wake of waiting) wake()
    waiting.clear()
  }

  function measureFrom(now: number) {
    began = now
    bytesAtBegin = getBytes(side)
    seenBytes = bytesAtBegin
    seenAt = now
  }

  /**
   * Returns the bytes per second between the first bytes and the latest ones. A swarm delivers several pieces of a few
   * megabytes in parallel. Therefore, the time before the first piece and the time since the last one would make the
   * swarm seem slow.
   */
  function measureRate(now: number) {
    const bytes = getBytes(side)
    const hasBegun = bytes > bytesAtBegin
    if (measuredSince === undefined && (hasBegun || now - began > turnMs)) {
      measuredSince = hasBegun ? 'first bytes' : 'timeout'
      measureFrom(now)
    }
    if (bytes > seenBytes) seenAt = now
    seenBytes = bytes
    const until = now - seenAt < turnMs ? seenAt : now
    return ((bytes - bytesAtBegin) / Math.max(1, until - began)) * 1000
  }

  function poll() {
    if (onlyPeers) return
    const now = clock.now()
    const rate = measureRate(now)
    const isSettled = now - began > turnMs * settledAfter
    if (side === 'registry') {
      registryRate = rate
      const isSlow = isSettled && rate < fastBytesPerSecond
      if (isSlow && readings.peers() > 0 && now > notBefore) give('swarm')
      return
    }
    if (readings.peers() > 0) lonelySince = undefined
    else lonelySince ??= now
    const isAlone = lonelySince !== undefined && now - lonelySince > turnMs * lonelyAfter
    const isSampled = getBytes(side) - bytesAtBegin >= sampleBytes
    const mayProve = measuredSince === 'first bytes' && !isSampled
    const proofMs = mayProve ? turnMs * sampleTimeout : turnMs
    const share = readings.pullers() > 0 ? worthwhileWithPullers : worthwhile
    const isNoHelp =
      measuredSince !== undefined && now - began > proofMs && rate < registryRate * share
    if (isNoHelp) notBefore = now + turnMs * rejoinAfter
    if (isAlone || isNoHelp) give('registry')
  }
  const stopPolling = every(turnMs * pollEvery, poll, clock)

  return {
    side: () => side,
    async turn(of) {
      while (side !== of && !isOver) await new Promise<void>((resolve) => waiting.add(resolve))
      return turnController.signal
    },
    close() {
      stopPolling()
      isOver = true
      turnController.abort(new Error('the pull is over'))
      for (const wake of waiting) wake()
      waiting.clear()
    },
  }
}
