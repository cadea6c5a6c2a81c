import { tooSlow } from '../errors.ts'

const pollIntervalMs = 100

/**
 * Passes on what a sender sends. Throws if nothing arrives within the timeout, or with the signal's reason if it is
 * aborted. The timeout is read repeatedly, since it can change in the meantime; time that the receiver takes does not
 * count.
 */
export async function* untilStalled<T>(
  source: AsyncIterable<T>,
  getTimeoutMs: () => number,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]()
  let waitingSince: number | undefined
  const stalled = Promise.withResolvers<never>()
  const watch = setInterval(() => {
    if (waitingSince === undefined || performance.now() - waitingSince < getTimeoutMs()) return
    stalled.reject(tooSlow('nothing was sent for too long; try again'))
  }, pollIntervalMs)
  const abort = () => stalled.reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  stalled.promise.catch(() => undefined) // handled in the race below, or no longer awaited
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
    // If the sender has stalled, do not wait for it, not even for its end.
    if (waitingSince === undefined) await items.return?.()
  }
}
