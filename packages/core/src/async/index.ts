/** Asynchronous waits that an `AbortSignal` can abort. */
export { sleep } from './sleep.ts'
export { untilAborted } from './until-aborted.ts'
