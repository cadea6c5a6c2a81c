import { tooSlow } from '../errors.ts'

const pollIntervalMs = 100

/**
 * Yields the items that a sender sends. Throws if no item arrives within the timeout. If `signal` is aborted, throws
 * the signal's reason. The timeout is read repeatedly, because it can change while a sender pauses. The time that the
 * receiver takes to handle an item does not count.
 */
export async function* untilStalled<T>(
  source: AsyncIterable<T>,
  getTimeoutMs: () => number,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]()
  let waitingSince: number | undefined
  const stalled = Promise.withResolvers<never>()
  const isOverdue = () =>
    waitingSince !== undefined && performance.now() - waitingSince >= getTimeoutMs()
  function rejectIfOverdue() {
    if (isOverdue()) stalled.reject(tooSlow('nothing was sent for too long; try again'))
  }
  const watch = setInterval(() => {
    if (isOverdue()) setImmediate(rejectIfOverdue) // if this process was busy, reads first what has arrived
  }, pollIntervalMs)
  const abort = () => stalled.reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  stalled.promise.catch(() => undefined) // prevents an unhandled rejection if the promise is rejected after the race
  try {
    for (;;) {
      signal?.throwIfAborted()
      waitingSince = performance.now()
      const { done, value } = await Promise.race([items.next(), stalled.promise])
      waitingSince = undefined
      if (done) return
      yield value
    }
  } finally {
    clearInterval(watch)
    signal?.removeEventListener('abort', abort)
    // If an item is still pending, the sender has stalled or was aborted. In that case, `return` is not called, because
    // it would wait for the sender.
    if (waitingSince === undefined) await items.return?.()
  }
}
