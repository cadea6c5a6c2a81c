/** Formats the table of faults for docs/reliability.md. */
import { columnNames, isDash, networkFaults } from './all-network-faults.ts'
import { type End, inWords } from './ends.ts'
import type { ColumnEnds, NetworkFault } from './network-fault.ts'
import { columns, type Place, placeTitles } from './places.ts'

const tableBegin = '<!-- Printed by: npm run faults -- network -->'
const tableEnd = '<!-- End of the printed table -->'

/** A run of the whole table in which every command ended as declared. */
export type WholeRun = {
  /** The UTC date, such as `2026-11-28`. */
  date: string
  seed: number
}

/**
 * Returns the page with the current table, below a sentence that states when the table was tested. The sentence stays
 * the same if no run is given.
 * @throws if the page has no place for the table
 */
export function withTable(page: string, run?: WholeRun): string {
  const [before = '', rest = ''] = page.split(`${tableBegin}\n\n`)
  const [printed = '', after] = rest.split(`\n\n${tableEnd}`)
  if (after === undefined) throw new Error('the page has no place for the table of network faults')
  const sentence = run
    ? `The whole table was last tested on ${run.date}, with the seed ${run.seed}.`
    : printed.split('\n\n', 1)[0]
  return `${before}${tableBegin}\n\n${sentence}\n\n${formatTable()}\n\n${tableEnd}${after}`
}

/** Returns the table in Markdown, with footnotes for the dashes. */
export function formatTable(faults: readonly NetworkFault[] = networkFaults): string {
  const notes: string[] = []
  const addNote = (text: string) => {
    if (!notes.includes(text)) notes.push(text)
    return `–<sup>${notes.indexOf(text) + 1}</sup>`
  }
  const titles = ['Fault', ...columnNames.map((name) => columns[name].title)]
  const rows = faults.map((fault) => [
    fault.summary,
    ...columnNames.map((name) => inColumn(fault.ends[name], addNote)),
  ])
  const lines = [titles, titles.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  const footnotes = notes.map((text, index) => `${index + 1}. ${text}`)
  return [...lines, '', ...footnotes].join('\n')
}

/**
 * Formats a table cell such as `correct bytes → unreachable (reset)`: the end if the harm goes away, and the end if it
 * stays.
 */
function inColumn(declared: ColumnEnds, addNote: (text: string) => string): string {
  if ('dash' in declared) return addNote(declared.dash)
  const { 'goes away': goesAway, stays } = declared
  const first =
    goesAway === undefined
      ? undefined
      : isDash(goesAway)
        ? addNote(goesAway.dash)
        : inWords(goesAway)
  const second = 'dash' in stays ? addNote(stays.dash) : staying(stays)
  return first === undefined || first === second ? second : `${first} → ${second}`
}

type Staying = Partial<Record<Place, End>>

/** Formats one end for all places of the column or, if the ends differ, one for each place. */
function staying(stays: Staying): string {
  const ends = Object.entries(stays) as [Place, End][]
  const places = Map.groupBy(ends, ([, end]) => inWords(end))
  const [only] = places.keys()
  if (places.size === 1 && only !== undefined) return only
  return Array.from(places, ([words, which]) => {
    const titles = which.map(([place]) => placeTitles[place])
    return `${titles.join(', ')}: ${words}`
  }).join('; ')
}
