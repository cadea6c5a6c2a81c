import { setTimeout as sleep } from 'node:timers/promises'

/** Thrown if something does not happen in time. */
export class TimeoutError extends Error {}

/**
 * Polls until `isSo` returns true. After `timeoutMs`, throws a `TimeoutError` whose message contains `what`.
 *
 * @param pollMs the interval; longer if a poll is expensive
 */
export async function until(
  what: string,
  timeoutMs: number,
  isSo: () => boolean | Promise<boolean>,
  pollMs = 10,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > endsAt)
      throw new TimeoutError(`timed out after ${timeoutMs} ms waiting until ${what}`)
    await sleep(pollMs)
  }
}

/** Returns the result of `work`, or throws a `TimeoutError` if it takes longer than `timeoutMs`. */
export async function within<T>(what: string, timeoutMs: number, work: Promise<T>): Promise<T> {
  const gone = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: gone.signal }).then(() => {
    throw new TimeoutError(`${what} did not end within ${timeoutMs} ms`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    gone.abort()
    late.catch(() => undefined) // aborted above
  }
}
