import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './testing/longest-first.ts'
import { runsSlowTests } from './testing/slow.ts'

export default defineConfig({
  test: {
    include: ['{packages/*/src,bench,cluster,conformance,faults,release,testing}/**/*.test.ts'],
    globalSetup: ['testing/services.ts'],
    reporters: ['default', './testing/closing-line-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 40_000 } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Half of the tests’ time is waiting; the slow ones keep the processor busy.
    maxWorkers: availableParallelism() + (runsSlowTests ? 0 : 2),
  },
})
