import { test } from 'vitest'
import { runsSlowTests } from './slow.ts'

/** Declares a test that takes seconds of processor time, and is therefore skipped unless slow tests run. */
export const slowTest: ReturnType<typeof test.runIf> = test.runIf(runsSlowTests)
