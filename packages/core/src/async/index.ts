/** Asynchronous waits that an `AbortSignal` can abort, and a clock that tests can move. */
export { type Clock, systemClock, waitingClock } from './clock.ts'
export { every } from './every.ts'
export { type SilenceTimer, silenceTimer } from './silence-timer.ts'
export { sleep } from './sleep.ts'
export { throttle } from './throttle.ts'
export { untilAborted } from './until-aborted.ts'
export { startUpkeep } from './upkeep.ts'
export { waitUpTo } from './wait-up-to.ts'
