/** Waiting that can be aborted with an `AbortSignal`. */
export { sleep } from './sleep.ts'
export { untilAborted } from './until-aborted.ts'
