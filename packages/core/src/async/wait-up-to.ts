import { sleep } from './sleep.ts'

/**
 * Waits until all of `work` has succeeded, or `timeoutMs` has passed. Rejects as soon as one of the promises is
 * rejected.
 */
export async function waitUpTo(
  timeoutMs: number,
  work: readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const timer = new AbortController()
  const timeout = sleep(timeoutMs, timer.signal).catch(() => undefined)
  const done = Promise.all(work)
  done.catch(() => undefined) // otherwise, a failure after the timeout would not be handled
  await Promise.race([done, timeout])
  timer.abort()
}
