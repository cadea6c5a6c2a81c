import type { Tuning } from '../pull/tuning.ts'

/** Short waits, so that trouble is over soon. */
export const quickTuning: Partial<Tuning> = { stallMs: 400, longestWaitMs: 300, tickMs: 20 }
