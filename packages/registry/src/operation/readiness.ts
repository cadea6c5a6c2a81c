import type { Clock } from '@shoal/core/async'
import type { Log } from '@shoal/log'

/**
 * A check for each component that is needed to serve requests. The key is the component's name, such as `database`. A
 * check rejects if its component is broken.
 */
type Checks = Record<string, () => Promise<unknown>>

const probeIntervalMs = 1_000
/** Timeout of a check. A check that takes longer counts as failed. */
const timeoutMs = 3_000

/**
 * Creates a function that resolves to the name of a broken component, or to undefined if no component is broken.
 * Components are checked at most once a second, regardless of how often the function is called. While a check is
 * pending, its component is not checked again, so that a database that hangs occupies only one connection.
 */
export function readiness(
  checks: Checks,
  log: Pick<Log, 'error'>,
  clock: Clock,
): () => Promise<string | undefined> {
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
          log.error({ err: error }, `the ${name} is not available`)
          return false
        },
      )
    pending.set(name, running)
    const late = Promise.withResolvers<false>()
    const cancel = clock.after(timeoutMs, () => late.resolve(false))
    const finished = running.finally(() => {
      pending.delete(name)
      cancel()
    })
    return Promise.race([finished, late.promise])
  }

  async function findBroken(): Promise<string | undefined> {
    const names = Object.entries(checks).map(async ([name, check]) =>
      (await isWorking(name, check)) ? undefined : name,
    )
    return (await Promise.all(names)).find((name) => name !== undefined)
  }

  return () => {
    const now = clock.now()
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
