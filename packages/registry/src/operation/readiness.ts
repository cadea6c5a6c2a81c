import { setTimeout as sleep } from 'node:timers/promises'

type Log = { error(details: object, message: string): void }

/**
 * Checks of everything that is needed to serve requests, by name such as "the database". A check rejects if its subject
 * is broken.
 */
type Checks = Record<string, () => Promise<unknown>>

const probeIntervalMs = 1_000
/** Timeout of a check. A check that takes longer counts as failed. */
const timeoutMs = 3_000

/**
 * Creates a function that resolves to the name of what is broken, or undefined. However often it is called, there is
 * one probe a second, and never a second check of something that has not answered the first, so a hanging database
 * costs a single connection.
 */
export function readiness(checks: Checks, log: Log): () => Promise<string | undefined> {
  const pending = new Map<string, Promise<boolean>>()
  let probe: Promise<string | undefined> = Promise.resolve(undefined)
  let probedAt = Number.NEGATIVE_INFINITY
  let isRunning = false

  function isWorking(name: string, check: () => Promise<unknown>): Promise<boolean> {
    const running =
      pending.get(name) ??
      check().then(
        () => true,
        (error) => {
          log.error({ err: error }, `the ${name} does not answer`)
          return false
        },
      )
    pending.set(name, running)
    const finished = running.finally(() => pending.delete(name))
    return Promise.race([finished, sleep(timeoutMs, false, { ref: false })])
  }

  async function findBroken(): Promise<string | undefined> {
    const names = Object.entries(checks).map(async ([name, check]) =>
      (await isWorking(name, check)) ? undefined : name,
    )
    return (await Promise.all(names)).find((name) => name !== undefined)
  }

  return () => {
    const now = performance.now()
    if (!isRunning && now - probedAt >= probeIntervalMs) {
      isRunning = true
      probedAt = now
      probe = findBroken().finally(() => {
        isRunning = false
      })
    }
    return probe
  }
}
