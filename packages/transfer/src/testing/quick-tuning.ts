import { runsSlowTests } from '../../../../testing/slow.ts'
import type { Tuning } from '../chunks/tuning.ts'

/**
 * Short waits, so that tests of failures are fast. Unless slow tests run, pulls start no threads, because starting
 * threads would take most of the processor time.
 */
export const quickTuning: Partial<Tuning> = {
  stallMs: 400,
  maxWaitMs: 300,
  tickMs: 20,
  ...(!runsSlowTests && { inlineChunks: Infinity }),
}

/** For tests that count requests, so that a busy machine does not cause extra requests. */
export const relaxedTuning: Partial<Tuning> = {
  ...quickTuning,
  stallMs: 60_000,
  slowAfterMs: 60_000,
}
