import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'bench/**/*.test.ts', 'faults/**/*.test.ts'],
    globalSetup: ['testing/services.ts'],
    reporters: ['default', './testing/closing-line-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    maxWorkers: availableParallelism(), // by default there is one less, and half of the tests’ time is waiting
  },
})
