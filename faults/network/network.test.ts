/**
 * Runs all network faults and all rounds once. This takes minutes, so it runs only with SHOAL_TEST_SLOW or
 * SHOAL_TEST_EVERYTHING.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runsSlowTests, withSlowTests } from '../../testing/slow.ts'
import { listCells, networkFaults } from './all-network-faults.ts'
import { networkRounds } from './all-rounds.ts'
import { exitCodes } from './ends.ts'
import { runCells } from './run-network.ts'
import { canRun, runRound } from './run-round.ts'
import { tamperedCell, tamperings } from './self-test.ts'
import { formatTable, tableBegin, tableEnd } from './table.ts'

const isAll = Boolean(process.env.SHOAL_TEST_EVERYTHING)
/** On a busy machine, everything may take twice as long. */
const timeoutFactor = 2
/** A command that hangs does not end, no matter how long the test waits. */
const hangTimeoutMs = 120_000
const seed = 1

const page = readFileSync(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8')

test('docs/reliability.md has the table that the program prints', () => {
  const table = page.slice(page.indexOf(tableBegin) + tableBegin.length, page.indexOf(tableEnd))
  expect(table.trim()).toBe(formatTable())
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

  test('every command under every fault ends as declared in the table', {
    timeout: 30 * 60_000,
  }, async () => {
    const onResult = () => undefined
    const results = await runCells(networkFaults.flatMap(listCells), {
      seed,
      timeoutFactor,
      hangTimeoutMs,
      logFolder,
      onResult,
    })
    const failed = results.filter(({ failure }) => failure !== undefined)
    hasFailed ||= failed.length > 0
    const reported = failed.map(({ cell, failure }) => {
      const { fault, column, form, place } = cell
      return `${fault.name}, ${place ?? column}, ${form}: ${failure}`
    })
    expect(reported).toEqual([])
  })

  for (const round of networkRounds) {
    const title = `${round.name}: ${round.summary}`
    test.skipIf(!canRun(round) && !isAll)(title, { timeout: 10 * 60_000 }, async () => {
      expect(canRun(round), `${round.needs} is not installed`).toBe(true)
      const { failure } = await runRound(round, { seed, timeoutFactor, logFolder })
      hasFailed ||= failure !== undefined
      expect(failure).toBeUndefined()
    })
  }

  test.each(tamperings)('the checks report $summary', async (tampering) => {
    const program = join(logFolder, 'tampered.cjs')
    writeFileSync(program, tampering.program)
    const options = {
      seed,
      timeoutFactor,
      logFolder,
      program,
      hangTimeoutMs: 3_000,
      onResult: () => undefined,
    }
    const [result] = await runCells([tamperedCell], options)
    expect(result?.failure).toMatch(tampering.failure)
  })
})
