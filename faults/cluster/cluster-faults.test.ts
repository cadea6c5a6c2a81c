/** Runs all faults of a registry with several nodes once, on one cluster. Slow, because a cluster has ten processes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../cluster/postgres.ts'
import { findMissing } from '../../cluster/up.ts'
import { runsSlowTests, withSlowTests } from '../../testing/slow.ts'
import { clusterFaults } from './cluster-faults.ts'
import { type FaultyCluster, openFaultyCluster } from './faulty-cluster.ts'

/** On a busy machine, everything may take four times as long. */
const timeoutFactor = 4
const timeoutMs = 300_000
const isInstalled = findMissing(new Set()).length === 0

describe.runIf(runsSlowTests && isInstalled)(withSlowTests, { timeout: timeoutMs }, () => {
  let cluster: FaultyCluster | undefined
  let logFolder = ''
  let hasFailed = false

  beforeAll(async () => {
    logFolder = mkdtempSync(join(tmpdir(), 'shoal-cluster-logs-'))
    cluster = await openFaultyCluster({ seed: 1, timeoutFactor, logFolder })
  }, timeoutMs)
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
    if (!hasFailed) rmSync(logFolder, { recursive: true })
  })

  for (const fault of clusterFaults) {
    test(`${fault.name}: ${fault.summary} Nothing is lost, wrong or stuck.`, async () => {
      const result = await cluster?.run(fault)
      hasFailed ||= result?.failures.length !== 0
      expect(result?.failures).toEqual([])
    })
  }

  test('the checks report a missing like as "lost"', async () => {
    const result = await cluster?.run({
      name: 'self-test',
      summary: '',
      load: { weights: { like: 0 } },
      async strike({ cluster: { state } }) {
        await query(state.ports.standby, 'delete from model_like')
      },
    })
    const lost = result?.failures.filter(({ kind }) => kind === 'lost') ?? []
    expect(lost.map(({ expected }) => expected)).toContain('"liked" is true')
  })
})
