/** Runs cells on several lanes, and repeats those that fail. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../../bench/harness/random.ts'
import { cleanupStack } from '../harness/cleanup.ts'
import { makeContent } from '../harness/contents.ts'
import { columnNames } from './all-network-faults.ts'
import { inWords } from './ends.ts'
import { type Lane, openLane, type Transport } from './lane.ts'
import type { Cell } from './network-fault.ts'
import { type CellOptions, type CellResult, noHarm, runCell } from './run-cell.ts'

export type NetworkOptions = {
  seed: number
  /** A factor by which every timeout is multiplied; 1 is for an idle machine. */
  timeoutFactor: number
  /** The folder for the registries' logs. */
  logFolder: string
  onResult(result: CellResult): void
} & Pick<CellOptions, 'program' | 'hangTimeoutMs'>

/** The maximum number of lanes. It may exceed the number of cores, because cells spend much of their time waiting. */
const maxLanes: Record<Transport, number> = {
  http: 5,
  https: 2,
  'proxied http': 1,
  'proxied https': 1,
}

/** Opening another lane, with its registry, takes as long as several cells. */
const minCellsPerLane = 8

const getTransport = ({ fault }: Cell): Transport => fault.over ?? 'http'

/**
 * Maximum number of cells to repeat. If timeouts expire early in more cells than this, a busy machine is not the cause.
 */
const maxRepeated = 12
const repeatedTimeoutFactor = 3

/**
 * Runs cells in parallel. Cells in which a timeout may have expired before the fault struck are repeated one after
 * another, with longer timeouts. Every other failure counts immediately.
 */
export async function runCells(
  cells: readonly Cell[],
  options: NetworkOptions,
): Promise<CellResult[]> {
  const results = await runOnLanes(cells, options, maxLanes)
  const early = results.filter(({ failure }) => earlyFailures.includes(failure))
  if (early.length > maxRepeated) return results
  const { timeoutFactor } = options
  const patient = { ...options, timeoutFactor: timeoutFactor * repeatedTimeoutFactor }
  const repeated: CellResult[] = []
  for (const { cell } of early) repeated.push(...(await runOnLanes([cell], patient)))
  return [...results.filter((result) => !early.includes(result)), ...repeated]
}

/** The failures of a timeout that expired early, such as before a peer could be found. */
const earlyFailures: unknown[] = [
  noHarm,
  ...['timeout', 'no_peers'].map((reason) => inWords({ code: 'unreachable', reason })),
]

async function runOnLanes(
  cells: readonly Cell[],
  options: NetworkOptions,
  lanes?: Record<Transport, number>,
): Promise<CellResult[]> {
  const { timeoutFactor, logFolder, onResult } = options
  const folder = mkdtempSync(join(tmpdir(), 'shoal-network-'))
  using cleanup = cleanupStack()
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { bytes } = makeContent(randomFrom(options.seed), 'large')
  const results: CellResult[] = []
  /**
   * Resolves when the previous lane is open. Lanes are opened one after another, so that the first lane is ready as
   * soon as possible.
   */
  let opening: Promise<unknown> = Promise.resolve()

  async function work(transport: Transport, number: number, queue: Cell[]) {
    const name = `${transport.replace(' ', '-')}-${number}`
    const place = { folder: join(folder, name), logFolder: join(logFolder, name) }
    const opened = opening.then(() =>
      openLane({ transport, timeoutFactor, cleanup, ...place }, bytes),
    )
    opening = opened
    const lane = await opened
    // The cells at the end of the queue need a seeder. The first lane begins there, so that the others may need none.
    const next = () => (number === 0 ? queue.pop() : queue.shift())
    for (let cell = next(); cell !== undefined; cell = next()) {
      const result = await runCell(cell, {
        ...options,
        lane,
        folder: join(place.folder, 'cell'),
      })
      results.push(result)
      onResult(result)
    }
    await lane.stop()
    reportRegistry(lane)
  }

  const getColumn = ({ column }: Cell) => columnNames.indexOf(column)
  const sorted = cells.toSorted((a, b) => getColumn(a) - getColumn(b))
  const working = [...Map.groupBy(sorted, getTransport)].flatMap(([transport, queue]) =>
    Array.from({ length: countLanes(queue.length, lanes?.[transport]) }, (_, number) =>
      work(transport, number, queue),
    ),
  )
  await Promise.all(working)
  return results
}

const countLanes = (cells: number, max = 1) => Math.min(max, Math.ceil(cells / minCellsPerLane))

/** Throws if the registry itself has failed: network faults must not make it fail. */
function reportRegistry({ failures }: Lane) {
  const [failure] = failures.list()
  if (failure)
    throw new Error(`the registry failed too: expected: ${failure.expected}; seen: ${failure.seen}`)
}
