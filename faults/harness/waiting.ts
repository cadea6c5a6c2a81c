import { setTimeout as sleep } from 'node:timers/promises'

/** What was waited for did not happen within its time. */
export class TimeoutError extends Error {}

/** Looks every few milliseconds until `isSo`. Throws `TooLate`, which names `what`, after `withinMs`. */
export async function until(
  what: string,
  timeoutMs: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > endsAt)
      throw new TimeoutError(`${what} did not happen in ${timeoutMs} ms`)
    await sleep(10)
  }
}

/** The result of `work`, or a `TooLate` when it takes longer than `withinMs`. */
export async function within<T>(what: string, timeoutMs: number, work: Promise<T>): Promise<T> {
  const gone = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: gone.signal }).then(() => {
    throw new TimeoutError(`${what} did not end in ${timeoutMs} ms`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    gone.abort()
    late.catch(() => undefined) // ended with the wait
  }
}
