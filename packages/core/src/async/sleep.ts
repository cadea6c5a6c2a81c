import { untilAborted } from './until-aborted.ts'

/** The longest delay of a timer, about 25 days. Longer timers would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** Resolves after `ms` milliseconds, at most 25 days. Rejects with the signal's reason as soon as it aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(Math.ceil(ms), maxTimerMs))
  try {
    await (signal ? untilAborted(signal, promise) : promise)
  } finally {
    clearTimeout(timer)
  }
}
