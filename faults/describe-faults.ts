/** Declares the tests of faults. They take minutes, so they run only with SHOAL_TEST_SLOW or SHOAL_TEST_EVERYTHING. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTestSeed } from '../testing/seed.ts'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { faults as allFaults } from './all-faults.ts'
import type { Fault } from './fault.ts'
import { type DatabaseServer, startDatabaseServer } from './harness/database-server.ts'
import type { Failure } from './harness/failures.ts'
import { findMissing } from './needs.ts'
import { roundTimeoutMs, runFault } from './run-fault.ts'
import { type Tampering, toFault } from './self-test.ts'

const isAll = Boolean(process.env.SHOAL_TEST_EVERYTHING)
/** On a busy machine, everything may take three times as long. */
const timeoutFactor = 3
const timeoutMs = roundTimeoutMs * timeoutFactor

/** Runs one round of each fault. The seeds depend on the commit. */
export function describeFaults(faults: readonly Fault[]): void {
  describe.runIf(runsSlowTests)(withSlowTests, () => {
    const missing = runsSlowTests ? findMissing() : new Set<never>()
    const findFailures = useRounds(
      faults.some(({ engines }) => engines.includes('postgres')) && !missing.has('PostgreSQL'),
    )
    const firstSeed = readTestSeed(join(import.meta.dirname, '..'), process.env)
    for (const fault of faults) {
      // The seed determines the database, so successive faults have successive seeds. A run thus uses both databases.
      const seed = firstSeed + allFaults.indexOf(fault)
      const lacking = fault.needs.filter((need) => missing.has(need))
      const needs = lacking.length > 0 ? ` (needs ${lacking.join(' and ')})` : ''
      const title = `${fault.name}${needs}: ${fault.summary} Nothing is lost, wrong or stuck.`
      test.skipIf(lacking.length > 0 && !isAll)(title, { timeout: timeoutMs }, async () => {
        expect(lacking, 'SHOAL_TEST_EVERYTHING does not allow skipped tests').toEqual([])
        const failures = await findFailures(fault, seed)
        // Vitest itself prints failures only at the end of the run, which may be an hour later.
        if (failures.length > 0) console.error(failures)
        expect(failures, `npm run faults -- ${fault.name} --seed ${seed}`).toEqual([])
      })
    }
  })
}

/** Tests that the checks report damage: each tampering of one round. */
export function describeTamperings(name: string, tamperings: readonly Tampering[]): void {
  describe.runIf(runsSlowTests)(withSlowTests, () => {
    const findFailures = useRounds(false)
    let failures: Failure[] = []
    beforeAll(async () => {
      failures = await findFailures(toFault(name, tamperings), 1)
    }, timeoutMs)

    test.each(tamperings)('the checks report $summary as "$kind"', ({ kind, expected }) => {
      const reported = failures.filter((failure) => failure.kind === kind)
      expect(reported.map((failure) => failure.expected)).toContainEqual(
        expect.stringMatching(expected),
      )
    })
  })
}

/** Returns a function that runs one round of a fault. The logs are kept if a round fails whose fault is no self-test. */
function useRounds(hasPostgres: boolean) {
  let databases: DatabaseServer | undefined
  let logFolder = ''
  let hasFailed = false

  beforeAll(async () => {
    logFolder = mkdtempSync(join(tmpdir(), 'shoal-faults-logs-'))
    if (hasPostgres) databases = await startDatabaseServer()
  })
  afterAll(async () => {
    await databases?.[Symbol.asyncDispose]()
    if (!hasFailed) rmSync(logFolder, { recursive: true })
  })

  return async (fault: Fault, seed: number) => {
    const options = { rounds: 1, seed, timeoutFactor, databases, logFolder }
    const [result] = await runFault(fault, { ...options, onRound: () => undefined })
    const failures = result?.failures ?? []
    hasFailed ||= failures.length > 0 && allFaults.includes(fault)
    return failures
  }
}
