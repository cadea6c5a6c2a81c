/** Breaks the network between the CLI and a registry: `npm run faults -- network [options]`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { anySeed, misuse, wholeNumber } from '../arguments.ts'
import { listCells, networkFaults } from './all-network-faults.ts'
import { networkRounds } from './all-rounds.ts'
import { chooseCover } from './cover.ts'
import { inWords, isProblem } from './ends.ts'
import type { Cell } from './network-fault.ts'
import { columns, type Place, places, placeTitles } from './places.ts'
import type { CellResult } from './run-cell.ts'
import { runCells } from './run-network.ts'
import { type RoundResult, runRound } from './run-round.ts'
import { formatTable, withTable } from './table.ts'

const usage = `npm run faults -- network [--only names] [--place name] [--cover] [--rounds 1] [--seed N] [--markdown]

--only      comma-separated names of faults and rounds (default: all)
--place     place of the affected requests (rounds are not run): ${places.join(', ')}
--cover     run only the commands that the tests run with this seed
--markdown  print the table for docs/reliability.md without running any command

If every command of the whole table ends as declared, the date and the seed are written to docs/reliability.md.
`

const pagePath = join(import.meta.dirname, '../../docs/reliability.md')

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs the network faults, and returns the exit code: 0 if every command ended as declared. */
export async function runNetwork(words: string[]): Promise<number> {
  const { only, place, rounds, seed, isCover, isMarkdown, isHelp } = readArguments(words)
  if (isHelp) return printNames()
  const faults = networkFaults.filter(({ name }) => isWanted(only, name))
  const kinds = networkRounds.filter(({ name }) => place === undefined && isWanted(only, name))
  const cells = faults.flatMap(listCells).filter((cell) => isAt(place, cell))
  const names = new Set([...networkFaults, ...networkRounds].map(({ name }) => name))
  const unknown = only?.split(',').find((name) => !names.has(name))
  if (unknown !== undefined) misuse(`unknown fault or round "${unknown}": --list shows all names`)
  if (faults.length + kinds.length === 0)
    misuse('--only names only rounds, which are not run with --place')
  if (isMarkdown) {
    say(formatTable(faults))
    return 0
  }

  const logFolder = mkdtempSync(join(tmpdir(), 'shoal-network-logs-'))
  const startedAt = performance.now()
  let failed = 0
  let count = 0
  const counted = ({ failure }: { failure?: string | undefined }) => {
    count += 1
    if (failure !== undefined) failed += 1
  }
  for (let round = 0; round < rounds; round += 1) {
    const options = { seed: seed + round, timeoutFactor: 1, logFolder }
    const onResult = (result: CellResult) => reportCell(result, options.seed)
    const chosen = isCover ? chooseCover(cells, options.seed) : cells
    for (const result of await runCells(chosen, { ...options, onResult })) counted(result)
    const results = await Promise.all(kinds.map((kind) => runRound(kind, options)))
    for (const result of results) {
      counted(result)
      reportRound(result)
    }
  }
  if (faults.length > 0 && place === undefined) say(`\n${formatTable(faults)}\n`)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  say(`network: commands and rounds: ${count}, failed: ${failed}, time: ${seconds} s`)
  if (failed === 0) rmSync(logFolder, { recursive: true })
  else say(`registry logs: ${logFolder}`)
  const isWhole = only === undefined && place === undefined && !isCover
  if (isWhole && failed === 0) {
    const date = new Date().toISOString().slice(0, 10)
    writeFileSync(pagePath, withTable(readFileSync(pagePath, 'utf8'), { date, seed }))
    say('wrote the date and the seed to docs/reliability.md')
  }
  return failed === 0 ? 0 : 1
}

const isWanted = (only: string | undefined, name: string) =>
  only === undefined || only.split(',').includes(name)

/** Whether a cell affects the wanted place. A fault that goes away affects every place of its column. */
const isAt = (wanted: Place | undefined, { column, place }: Cell) =>
  wanted === undefined ||
  wanted === place ||
  (place === undefined && (columns[column].places as readonly Place[]).includes(wanted))

const formatTitle = ({ fault, column, form, place }: Cell) =>
  `${fault.name.padEnd(20)}${(place === undefined ? column : `${column}, ${placeTitles[place]}`).padEnd(20)}${form.padEnd(11)}`

/** Returns the command line that runs a cell again. */
export function toCommand({ fault, column, place }: Cell, seed: number): string {
  const at = place ?? columns[column].places[0]
  return `npm run faults -- network --only ${fault.name} --place "${at}" --seed ${seed}`
}

/** Prints one line for a command, and the command's output if it did not end as declared. */
function reportCell({ cell, end, seconds, failure, output }: CellResult, seed: number) {
  const seen = isProblem(end) ? end.problem : inWords(end)
  const verdict = failure === undefined ? 'ok' : 'FAILED'
  say(`${formatTitle(cell)}${seconds.toFixed(1).padStart(5)} s  ${verdict}: ${seen}`)
  if (failure === undefined) return
  say(`  expected: ${inWords(cell.end)}`)
  if (!isProblem(end)) say(`  seen:     ${failure}`)
  say(`  again:    ${toCommand(cell, seed)}`)
  say(output.replace(/^/gm, '  | '))
}

function reportRound({ round, seed, seconds, seen, failure }: RoundResult) {
  const verdict = failure === undefined ? `ok: ${seen}` : `FAILED: ${failure}`
  say(
    `${round.name.padEnd(20)}seed ${String(seed).padEnd(26)}${seconds.toFixed(1).padStart(5)} s  ${verdict}`,
  )
}

function printNames(): number {
  say(usage)
  for (const { name, summary } of [...networkFaults, ...networkRounds]) {
    say(`${name.padEnd(28)}${summary}`)
  }
  return 0
}

function readArguments(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        only: { type: 'string' },
        place: { type: 'string' },
        rounds: { type: 'string', default: '1' },
        seed: { type: 'string', default: anySeed() },
        cover: { type: 'boolean', default: false },
        markdown: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        list: { type: 'boolean', default: false },
      },
    })
    return {
      only: values.only,
      place: placeNamed(values.place),
      rounds: wholeNumber('--rounds', values.rounds),
      seed: wholeNumber('--seed', values.seed),
      isCover: values.cover,
      isMarkdown: values.markdown,
      isHelp: values.help || values.list,
    }
  } catch (error) {
    return misuse(String(error instanceof Error ? error.message : error))
  }
}

function placeNamed(name: string | undefined): Place | undefined {
  const place = places.find((one) => one === name)
  if (name !== undefined && place === undefined)
    misuse(`unknown place "${name}"; expected one of: ${places.join(', ')}`)
  return place
}
