/**
 * Which source delivers the chunks: only the registry, with requests for whole chunks, or the swarm, of which the
 * registry is a member.
 */
export type Side = 'registry' | 'swarm'

type Readings = {
  /** Bytes received from requests to the registry. */
  registryBytes(): number
  /** Bytes received through the swarm. */
  swarmBytes(): number
  /** Other peers in the swarm. */
  peers(): number
}

type PaceOptions = {
  /** A registry that delivers this much needs no help: pieces cost several times the work of chunks. */
  fastBytesPerSecond: number
  /** How long a swarm has to show that it helps. */
  turnMs: number
  /** Only peers: no bytes are requested from the registry. */
  onlyPeers: boolean
}

/** A swarm that delivers less than this share of the registry's rate is no help. */
const worthwhile = 0.7
/** Shares of `turnMs`. */
const pollEvery = 1 / 12
const settledAfter = 1 / 4
const lonelyAfter = 2 / 3
const rejoinAfter = 10

/** Lets one side work at a time. */
export interface Pace {
  /** Whose turn it is. */
  side(): Side
  /** Resolves when it is the side's turn, or all is over, with a signal for the end of the turn. */
  turn(of: Side): Promise<AbortSignal>
  /** Ends all waits for a turn. */
  close(): void
}

/**
 * The registry goes first; a swarm with other members takes over if the registry is slow, and returns the turn if it is
 * alone or turns out slower.
 */
export function pace(
  readings: Readings,
  { fastBytesPerSecond, turnMs, onlyPeers }: PaceOptions,
): Pace {
  let side: Side = onlyPeers ? 'swarm' : 'registry'
  let turnController = new AbortController()
  let began = performance.now()
  let bytesAtBegin = 0
  let registryRate = 0
  let lonelySince: number | undefined
  let notBefore = 0
  let isOver = false
  const waiting = new Set<() => void>()

  const getBytes = (of: Side) => (of === 'swarm' ? readings.swarmBytes() : readings.registryBytes())

  function give(to: Side) {
    side = to
    began = performance.now()
    bytesAtBegin = getBytes(to)
    lonelySince = undefined
    const before = turnController
    turnController = new AbortController()
    before.abort(new Error(`it is the turn of the ${to}`))
    for (const wake of waiting) wake()
    waiting.clear()
  }

  function poll() {
    if (onlyPeers) return
    const now = performance.now()
    const rate = ((getBytes(side) - bytesAtBegin) / Math.max(1, now - began)) * 1000
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
    const isNoHelp = now - began > turnMs && rate < registryRate * worthwhile
    if (isNoHelp) notBefore = now + turnMs * rejoinAfter
    if (isAlone || isNoHelp) give('registry')
  }
  const pollTimer = setInterval(poll, turnMs * pollEvery)

  return {
    side: () => side,
    async turn(of) {
      while (side !== of && !isOver) await new Promise<void>((resolve) => waiting.add(resolve))
      return turnController.signal
    },
    close() {
      clearInterval(pollTimer)
      isOver = true
      turnController.abort(new Error('the pull is over'))
      for (const wake of waiting) wake()
      waiting.clear()
    },
  }
}
