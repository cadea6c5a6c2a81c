/** Who brings the chunks: the registry alone, by requests for whole chunks, or the swarm, of which the registry is one. */
export type Side = 'registry' | 'swarm'

type Readings = {
  /** Bytes that came by requests to the registry. */
  registryBytes(): number
  /** Bytes that came by way of the swarm. */
  swarmBytes(): number
  /** Others that are in the swarm. */
  peers(): number
}

type PaceOptions = {
  /** A registry that brings so much by itself needs no help: pieces cost several times the work of chunks. */
  fastBytesPerSecond: number
  /** How long a swarm has to show that it helps. */
  turnMs: number
  /** Peers alone: the registry is not asked for bytes. */
  onlyPeers: boolean
}

/** A swarm that brings less than this share of what the registry did is no help. */
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
  /** Resolves when it is the side's turn, or all is over, with what fires when it is no longer. */
  turn(of: Side): Promise<AbortSignal>
  /** Lets whoever waits for its turn go. */
  close(): void
}

/**
 * It is the registry's turn first; a swarm of which others are members takes over where the
 * registry is slow, and gives back where it is left alone or turns out slower.
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
