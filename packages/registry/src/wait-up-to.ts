import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until all of these have settled, or for `timeoutMs`. Rejects if one fails before then. */
export async function waitUpTo(
  timeoutMs: number,
  work: readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const timer = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)
  const done = Promise.all(work)
  done.catch(() => undefined) // after the timeout, nobody handles a failure
  await Promise.race([done, timeout])
  timer.abort()
}
