import { runsSlowTests } from '../../../../testing/slow.ts'
import type { Tuning } from '../chunks/tuning.ts'

/**
 * Short waits, so that tests of failures are fast. Pulls start no threads, because starting threads would take most of
 * the processor time.
 */
export const quickTuning: Partial<Tuning> = {
  stallMs: 400,
  maxWaitMs: 300,
  tickMs: 20,
  inlineChunks: Infinity,
}

/** For tests whose subject also depends on threads. Pulls start threads if slow tests run. */
export const inThreads: Partial<Tuning> = runsSlowTests ? { inlineChunks: 4 } : {}

/** For tests that count requests, so that a busy machine does not cause extra requests. */
export const relaxedTuning: Partial<Tuning> = {
  ...quickTuning,
  stallMs: 60_000,
  slowAfterMs: 60_000,
}
