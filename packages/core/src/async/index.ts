/** Asynchronous waits that an `AbortSignal` can abort. */
export { type SilenceTimer, silenceTimer } from './silence-timer.ts'
export { sleep } from './sleep.ts'
export { untilAborted } from './until-aborted.ts'
