import type { Tuning } from '../chunks/tuning.ts'

/** Short waits, so that trouble is over soon. */
export const quickTuning: Partial<Tuning> = { stallMs: 400, maxWaitMs: 300, tickMs: 20 }

/** For tests that count requests: no connection is given up because this machine is busy. */
export const relaxedTuning: Partial<Tuning> = {
  ...quickTuning,
  stallMs: 60_000,
  slowAfterMs: 60_000,
}
