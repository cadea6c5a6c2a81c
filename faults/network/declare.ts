/** Functions that declare how commands end under a fault. */
import type { Code, End } from './ends.ts'
import type { ColumnEnds, Dash, NetworkFault } from './network-fault.ts'
import type { Place } from './places.ts'

export const rightBytes = 'correct bytes' as const

export const fails = (code: Code, reason?: string): End => ({ code, reason })

export const dash = (why: string): Dash => ({ dash: why })

/**
 * The dash for a fault that causes a complete response. Such a response is final, even if it is wrong, because requests
 * are repeated only if the response is incomplete.
 */
const wholeAnswer = dash('This complete response is final: the request is not repeated.')

type Kind = {
  /** Whether the fault causes a complete response, even if the response is wrong. */
  isAnswer?: boolean
  /** The ends at places where the command ends differently. */
  others?: Partial<Record<Place, End>>
  /** Ends of entire columns, which replace the ends derived from `end`. */
  columns?: Partial<NetworkFault['ends']>
}

/**
 * Returns the ends for harm to requests: correct bytes (or a dash, if a complete response is final) if the harm goes
 * away, otherwise `end`. Harm to web seeds never makes a pull fail, because the pull can download the bytes in another
 * way.
 */
export function onRequests(end: End, { isAnswer = false, others = {}, columns = {} }: Kind = {}) {
  const goesAway = isAnswer ? wholeAnswer : rightBytes
  const at = (place: Place) => others[place] ?? end
  return {
    api: { 'goes away': goesAway, stays: { api: at('api') } },
    chunk: { 'goes away': rightBytes, stays: { chunk: at('chunk') } },
    push: {
      'goes away': goesAway,
      stays: { start: at('start'), part: at('part'), complete: at('complete') },
    },
    torrent: { 'goes away': goesAway, stays: { torrent: at('torrent'), 'web seed': rightBytes } },
    // Announces are repeated, no matter how the tracker responded.
    tracker: { 'goes away': rightBytes, stays: { tracker: at('tracker') } },
    ...columns,
  } satisfies Record<string, ColumnEnds>
}

/** Returns the ends for harm to all connections. The harm begins with the first request to a place. */
export function onConnections(end: End, goesAway: End | Dash = rightBytes): NetworkFault['ends'] {
  return {
    api: { 'goes away': goesAway, stays: { api: end } },
    chunk: { 'goes away': goesAway, stays: { chunk: end } },
    push: { 'goes away': goesAway, stays: { start: end, part: end, complete: end } },
    torrent: { 'goes away': goesAway, stays: { torrent: end } },
    tracker: { 'goes away': goesAway, stays: { tracker: end } },
  }
}
