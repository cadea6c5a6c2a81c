/** Limits on how often something happens, and on how much of it happens at the same time. */
export { allowPerMinute } from './allow-per-minute.ts'
export { keyedSlots } from './keyed-slots.ts'
export { tokenBucket } from './token-bucket.ts'
export { type WindowCount, windowCounts } from './window-counts.ts'
