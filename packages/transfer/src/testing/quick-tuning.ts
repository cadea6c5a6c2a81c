import type { Tuning } from '../chunks/tuning.ts'

/** Short waits, so that tests of failures are fast. */
export const quickTuning: Partial<Tuning> = { stallMs: 400, maxWaitMs: 300, tickMs: 20 }

/** For tests that count requests, so that a busy machine does not cause extra requests. */
export const relaxedTuning: Partial<Tuning> = {
  ...quickTuning,
  stallMs: 60_000,
  slowAfterMs: 60_000,
}
