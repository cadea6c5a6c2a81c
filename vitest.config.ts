import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './testing/longest-first.ts'
import { limitPath } from './testing/programs.ts'

// Test processes, their threads and the commands that they start share compiled code, which saves a third of their
// processor time.
process.env.NODE_COMPILE_CACHE ||= join(import.meta.dirname, 'node_modules/.cache/tests')
limitPath(join(import.meta.dirname, 'node_modules/.cache/test-path'))

export default defineConfig({
  test: {
    globalSetup: ['testing/services.ts'],
    reporters: ['default', './testing/closing-line-reporter.ts'],
    // On a busy machine, tests that take 20 s alone may take minutes.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 40_000 } },
    include: [
      '{agents,bench,cluster,conformance,faults,release,testing}/**/*.test.ts',
      'packages/*/src/**/*.test.{ts,tsx}',
    ],
    pool: 'forks',
    // Test files share processes, because loading and compiling the packages again for each file takes 40% of the
    // processor time. Tests therefore restore everything they change, such as timers and environment variables.
    isolate: false,
    // Most memory is used for a moment only. Larger semi-spaces free it with fewer copies: a tenth less processor time.
    execArgv: ['--max-semi-space-size=64'],
    maxWorkers: availableParallelism() + 2, // half of their time is waiting
    sequence: { sequencer: LongestFirst },
  },
})
