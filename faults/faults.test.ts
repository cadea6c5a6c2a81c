/** Runs two rounds of each fault. This takes minutes, so it runs only with SHOAL_TEST_SLOW or SHOAL_TEST_EVERYTHING. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { faults } from './all-faults.ts'
import type { Fault } from './fault.ts'
import { type DatabaseServer, startDatabaseServer } from './harness/database-server.ts'
import { findMissing } from './needs.ts'
import { runFault } from './run-fault.ts'
import { tamperings } from './self-test.ts'

const isAll = Boolean(process.env.SHOAL_TEST_EVERYTHING)
/** On a busy machine, everything may take three times as long. */
const timeoutFactor = 3
const timeoutMs = 2 * 120_000 * timeoutFactor
const seed = 1

describe.runIf(runsSlowTests)(withSlowTests, () => {
  const missing = runsSlowTests ? findMissing() : new Set<never>()
  let databases: DatabaseServer | undefined
  let logFolder = ''
  let hasFailed = false

  beforeAll(async () => {
    logFolder = mkdtempSync(join(tmpdir(), 'shoal-faults-logs-'))
    if (!missing.has('PostgreSQL')) databases = await startDatabaseServer()
  })
  afterAll(async () => {
    await databases?.[Symbol.asyncDispose]()
    if (!hasFailed) rmSync(logFolder, { recursive: true })
  })

  async function findFailures(fault: Fault, rounds: number) {
    const options = {
      rounds,
      seed,
      timeoutFactor: timeoutFactor,
      databases,
      logFolder,
      onRound: () => undefined,
    }
    const results = await runFault(fault, options)
    return results.filter(({ failures }) => failures.length > 0)
  }

  for (const fault of faults) {
    const lacking = fault.needs.filter((need) => missing.has(need))
    const needs = lacking.length > 0 ? ` (needs ${lacking.join(' and ')})` : ''
    const title = `${fault.name}${needs}: ${fault.summary} Nothing is lost, wrong or stuck.`
    test.skipIf(lacking.length > 0 && !isAll)(title, { timeout: timeoutMs }, async () => {
      expect(lacking, 'SHOAL_TEST_EVERYTHING does not allow skipped tests').toEqual([])
      const failed = await findFailures(fault, 2)
      hasFailed ||= failed.length > 0
      // Vitest itself prints failures only at the end of the run, which may be an hour later.
      if (failed.length > 0) console.error(failed)
      expect(failed).toEqual([])
    })
  }

  for (const { fault, kind, expected } of tamperings) {
    test(`the checks report ${fault.summary} as "${kind}"`, { timeout: timeoutMs }, async () => {
      const [failed] = await findFailures(fault, 1)
      const reported = failed?.failures.filter((failure) => failure.kind === kind) ?? []
      expect(reported.map((failure) => failure.expected)).toContainEqual(
        expect.stringMatching(expected),
      )
    })
  }
})
