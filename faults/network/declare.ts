/** Functions that declare how commands end, fault by fault. */
import type { Code, End } from './ends.ts'
import type { ColumnEnds, Dash, NetworkFault } from './network-fault.ts'
import type { Place } from './places.ts'

export const rightBytes = 'right bytes' as const

export const fails = (code: Code, reason?: string): End => ({ code, reason })

export const dash = (why: string): Dash => ({ dash: why })

/** A complete answer is final, even if it is wrong; one that was damaged on its way is requested again. */
const wholeAnswer = dash('A complete response is final: the request is not repeated.')

type Kind = {
  /** The answer is complete, even if it is wrong. */
  isAnswer?: boolean
  /** The ends at places that differ. */
  others?: Partial<Record<Place, End | readonly End[]>>
  /** Columns that differ as a whole. */
  columns?: Partial<NetworkFault['ends']>
}

/** For harm to requests: right bytes if it goes away, otherwise `end`. Web seeds are never required: the bytes can be downloaded in another way. */
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
    // Announces are repeated whatever the tracker answered.
    tracker: { 'goes away': rightBytes, stays: { tracker: at('tracker') } },
    ...columns,
  } satisfies Record<string, ColumnEnds>
}

/** For harm to all connections, beginning with the first request to a place. */
export function onConnections(end: End, goesAway: End | Dash = rightBytes): NetworkFault['ends'] {
  return {
    api: { 'goes away': goesAway, stays: { api: end } },
    chunk: { 'goes away': goesAway, stays: { chunk: end } },
    push: { 'goes away': goesAway, stays: { start: end, part: end, complete: end } },
    torrent: { 'goes away': goesAway, stays: { torrent: end } },
    tracker: { 'goes away': goesAway, stays: { tracker: end } },
  }
}
