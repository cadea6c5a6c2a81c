import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { InlineConfig } from 'vitest/node'
import { LongestFirst } from './testing/longest-first.ts'
import { limitPath } from './testing/programs.ts'
import { runsSlowTests } from './testing/slow.ts'

// Test processes, their threads and the commands that they start share compiled code, which saves a third of their
// processor time.
process.env.NODE_COMPILE_CACHE ||= join(import.meta.dirname, 'node_modules/.cache/tests')
limitPath(join(import.meta.dirname, 'node_modules/.cache/test-path'))

const system = '{bench,cluster,conformance,faults,release,testing}/**/*.test.ts'
const registry = 'packages/registry/src/**/*.test.ts'
const others = 'packages/!(registry)/src/**/*.test.{ts,tsx}'

const cores = availableParallelism()
/**
 * Test files share processes, because loading and compiling the packages again for each file takes 40% of the processor
 * time. Tests therefore restore everything they change, such as timers and environment variables. Half of their time is
 * waiting.
 */
const inSharedProcesses = { isolate: false, maxWorkers: cores + 2 }

export default defineConfig({
  test: {
    globalSetup: ['testing/services.ts'],
    reporters: ['default', './testing/closing-line-reporter.ts'],
    // On a busy machine, tests that take 20 s alone may take minutes.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 40_000 } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // The slow tests of the system and of the registry would need too much memory in shared processes. Those of the
    // system also keep the processor busy.
    projects: runsSlowTests
      ? [
          project('system', 0, { include: [system], maxWorkers: cores }),
          project('registry', 1, { include: [registry], maxWorkers: cores + 1 }),
          project('others', 2, { include: [others], ...inSharedProcesses }),
        ]
      : [project('all', 0, { include: [system, registry, others], ...inSharedProcesses })],
  },
})

/** Projects run one after another, in the order of `groupOrder`. */
function project(name: string, groupOrder: number, test: InlineConfig) {
  return { extends: true as const, test: { ...test, name, sequence: { groupOrder } } }
}
