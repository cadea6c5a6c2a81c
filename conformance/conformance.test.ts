import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { findProgram } from '../testing/programs.ts'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'

const isInstalled = ['git', 'g++'].every((name) => findProgram(name) !== undefined)
const timeoutMs = 900_000

describe.runIf(runsSlowTests && isInstalled)(withSlowTests, { timeout: timeoutMs }, () => {
  test('prompts, answers, schemas and tokens reach the scores in conformance/scores.ts', async () => {
    const { stdout } = await promisify(execFile)('node', ['conformance/run.ts'])
    expect(stdout).toMatch(
      /\nconformance: rendered \d+ of 604, .*; forged turns 0 of .*; calls \d+ of 248; .*; schemas \d+ of 79; vocabularies \d+ of 19\n$/,
    )
  })
})
