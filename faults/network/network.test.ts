/**
 * Runs a cover of the network faults, and all rounds once. This takes minutes, so it runs only with SHOAL_TEST_SLOW or
 * SHOAL_TEST_EVERYTHING.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomFrom } from '../../bench/harness/random.ts'
import { readTestSeed } from '../../testing/seed.ts'
import { runsSlowTests, withSlowTests } from '../../testing/slow.ts'
import { cleanupStack } from '../harness/cleanup.ts'
import { makeContent } from '../harness/contents.ts'
import { listCells, networkFaults } from './all-network-faults.ts'
import { networkRounds } from './all-rounds.ts'
import { chooseCover } from './cover.ts'
import { exitCodes } from './ends.ts'
import { type Lane, openLane } from './lane.ts'
import { toCommand } from './program.ts'
import { runCell } from './run-cell.ts'
import { runCells } from './run-network.ts'
import { canRun, runRound } from './run-round.ts'
import { tamperedCell, tamperings } from './self-test.ts'
import { withTable } from './table.ts'

const isAll = Boolean(process.env.SHOAL_TEST_EVERYTHING)
/** On a busy machine, everything may take twice as long. */
const timeoutFactor = 2
/** A command that hangs does not end, no matter how long the test waits. */
const hangTimeoutMs = 120_000
const root = join(import.meta.dirname, '../..')
const seed = readTestSeed(root, process.env)

const page = readFileSync(join(root, 'docs/reliability.md'), 'utf8')

test('docs/reliability.md has the table that the program prints, and says when it was last tested', () => {
  expect(page).toBe(withTable(page))
  expect(page).toMatch(
    /^The whole table (was last tested on \d{4}-\d\d-\d\d, with the seed \d+|has not been tested in one run yet)\.$/m,
  )
})

test('a run of the whole table changes only the date and the seed', () => {
  const written = withTable(page, { date: '2099-01-31', seed: 17 })
  const sentence = 'The whole table was last tested on 2099-01-31, with the seed 17.'
  expect(written).toContain(`\n\n${sentence}\n\n| Fault | API call |`)
  expect(written.split('\n').filter((line) => !page.includes(line))).toEqual([sentence])
  expect(withTable(written)).toBe(written)
})

test('docs/reliability.md has every code with its exit code', () => {
  for (const [code, exitCode] of Object.entries(exitCodes)) {
    expect(page).toContain(`| \`${code}\` | ${exitCode} |`)
  }
})

describe.runIf(runsSlowTests)(withSlowTests, () => {
  let logFolder = ''
  let hasFailed = false
  beforeAll(() => {
    logFolder = mkdtempSync(join(tmpdir(), 'shoal-network-logs-'))
  })
  afterAll(() => {
    if (!hasFailed) rmSync(logFolder, { recursive: true })
  })

  test(`every command of the cover with the seed ${seed} ends as declared in the table`, {
    timeout: 30 * 60_000,
  }, async () => {
    const results = await runCells(chooseCover(networkFaults.flatMap(listCells), seed), {
      seed,
      timeoutFactor,
      hangTimeoutMs,
      logFolder,
      onResult: () => undefined,
    })
    const failed = results.filter(({ failure }) => failure !== undefined)
    hasFailed ||= failed.length > 0
    const reported = failed.map(({ cell, failure }) => {
      const { fault, column, form, place } = cell
      return `${fault.name}, ${place ?? column}, ${form}: ${failure}; again: ${toCommand(cell, seed)}`
    })
    expect(reported).toEqual([])
  })

  for (const round of networkRounds) {
    const title = `${round.name}: ${round.summary}`
    test.skipIf(!canRun(round) && !isAll)(title, { timeout: 10 * 60_000 }, async () => {
      expect(canRun(round), `${round.needs} is not installed`).toBe(true)
      const { failure } = await runRound(round, { seed, timeoutFactor, logFolder })
      hasFailed ||= failure !== undefined
      expect(failure, `npm run faults -- network --only ${round.name} --seed ${seed}`).toBe(
        undefined,
      )
    })
  }

  describe('the checks report', () => {
    const cleanup = cleanupStack()
    let folder = ''
    let lane: Lane
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'shoal-network-'))
      cleanup.defer(() => rmSync(folder, { recursive: true }))
      const { bytes } = makeContent(randomFrom(seed), 'large')
      lane = await openLane({ transport: 'http', folder, logFolder, timeoutFactor, cleanup }, bytes)
    })
    afterAll(async () => {
      await lane.stop()
      cleanup.dispose()
    })

    test.each(tamperings)('$summary', async (tampering) => {
      const program = join(folder, 'tampered.cjs')
      writeFileSync(program, tampering.program)
      const { failure } = await runCell(tamperedCell, {
        lane,
        folder: join(folder, 'cell'),
        seed,
        timeoutFactor,
        program,
        hangTimeoutMs: tampering.hangTimeoutMs ?? hangTimeoutMs,
      })
      expect(failure).toMatch(tampering.failure)
    })
  })
})
