import { tooSlow } from '../errors.ts'

const pollIntervalMs = 100

/**
 * Passes on what a sender sends. Throws when nothing comes for `limitMs`, and the signal's reason when that is aborted. The
 * limit is asked for again and again, as it may change meanwhile; time that the receiver takes does not count.
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
  stalled.promise.catch(() => undefined) // is met where it is raced, or nobody waits any more
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
    // Of a sender that has stopped nothing more is to be awaited, not even its end.
    if (waitingSince === undefined) await items.return?.()
  }
}
