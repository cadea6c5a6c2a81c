/** Words to declare how commands end, fault by fault. */
import type { Code, End } from './ends.ts'
import type { ColumnEnds, Dash, NetworkFault } from './network-fault.ts'
import type { Place } from './places.ts'

export const rightBytes = 'right bytes' as const

export const fails = (code: Code, reason?: string): End => ({ code, reason })

export const dash = (why: string): Dash => ({ dash: why })

/** What a registry says, or somebody in its place, is not asked for again; what a line does to it is. */
const wholeAnswer = dash('A whole answer counts: the same request is not sent again.')

type Kind = {
  /** The answer is whole, if wrong. */
  isAnswer?: boolean
  /** What differs from place to place. */
  others?: Partial<Record<Place, End | readonly End[]>>
  /** Columns that are unlike all others. */
  columns?: Partial<NetworkFault['ends']>
}

/** Where requests are harmed: the right bytes where the harm goes away, and else `end`. Nobody needs the swarm to get the bytes. */
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
    torrent: {
      'goes away': rightBytes,
      stays: { torrent: at('torrent'), tracker: rightBytes, 'web seed': rightBytes },
    },
    ...columns,
  } satisfies Record<string, ColumnEnds>
}

/** Where every connection is harmed from the first request of a place on. */
export function onConnections(end: End, goesAway: End | Dash = rightBytes): NetworkFault['ends'] {
  return {
    api: { 'goes away': goesAway, stays: { api: end } },
    chunk: { 'goes away': goesAway, stays: { chunk: end } },
    push: { 'goes away': goesAway, stays: { start: end, part: end, complete: end } },
    torrent: { 'goes away': goesAway, stays: { torrent: end } },
  }
}
