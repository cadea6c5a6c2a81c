const firstMs = 250
/**
 * Short enough that clients soon notice that a registry is back online, and long enough that they do not overload it.
 */
const defaultMaxMs = 2_000

/**
 * Milliseconds to wait after the `count`-th failure, counted from 1. The wait grows exponentially, with jitter so that
 * clients do not all retry at the same time.
 */
export function backoffMs(count: number, maxMs = defaultMaxMs): number {
  const ms = Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 20))
  return ms * (0.5 + Math.random() / 2)
}
