import { type Clock, waitingClock } from './clock.ts'
import { untilAborted } from './until-aborted.ts'

/** The longest delay of a timer, about 25 days. A timer with a longer delay would fire immediately. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Resolves after `ms` milliseconds, or after 25 days if that is less. Rejects with the signal's reason as soon as the
 * signal aborts.
 */
export async function sleep(
  ms: number,
  signal?: AbortSignal,
  clock: Clock = waitingClock,
): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(Math.min(Math.ceil(ms), maxTimerMs), resolve)
  try {
    await (signal ? untilAborted(signal, promise) : promise)
  } finally {
    cancel()
  }
}
