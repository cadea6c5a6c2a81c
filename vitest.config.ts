import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './testing/longest-first.ts'
import { runsSlowTests } from './testing/slow.ts'

// Test processes, their threads and the commands that they start share compiled code, which saves a third of their
// processor time.
process.env.NODE_COMPILE_CACHE ||= join(import.meta.dirname, 'node_modules/.cache/tests')

const timeouts = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 40_000 } },
}

/**
 * The tests of these packages share processes, because loading and compiling the packages again for each test file
 * takes 40% of the processor time. These tests restore everything they change, such as timers and environment variables.
 * With slow tests, each file has its own process, because a shared one would need too much memory.
 */
const inSharedProcesses =
  'packages/{core,daemon,model-file,network,registry,server,transfer,web}/src/**/*.test.ts'

export default defineConfig({
  test: {
    globalSetup: ['testing/services.ts'],
    reporters: ['default', './testing/closing-line-reporter.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Half of the tests’ time is waiting; the slow ones keep the processor busy.
    maxWorkers: availableParallelism() + (runsSlowTests ? 0 : 2),
    projects: [
      {
        test: { ...timeouts, name: 'shared', include: [inSharedProcesses], isolate: runsSlowTests },
      },
      {
        test: {
          ...timeouts,
          name: 'isolated',
          include: [
            '{packages/*/src,bench,cluster,conformance,faults,release,testing}/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, inSharedProcesses],
        },
      },
    ],
  },
})
