import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until all of this is done, or `timeoutMs` are over. Rejects when something fails before then. */
export async function waitUpTo(
  timeoutMs: number,
  work: readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const timer = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined)
  const done = Promise.all(work)
  done.catch(() => undefined) // what fails after the timeout has nobody left to hear it
  await Promise.race([done, timeout])
  timer.abort()
}
