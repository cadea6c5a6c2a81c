/** Waiting that an `AbortSignal` ends. */
export { sleep } from './sleep.ts'
export { untilAborted } from './until-aborted.ts'
