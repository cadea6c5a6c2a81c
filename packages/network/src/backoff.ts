const firstMs = 250
/** Short enough to notice quickly that a registry is back, long enough not to overload a busy one. */
const defaultMaxMs = 2_000

/**
 * Milliseconds to wait after failure number `count` (from 1): exponential, with jitter so that clients do not retry all at
 * once.
 */
export function backoffMs(count: number, maxMs = defaultMaxMs): number {
  const ms = Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 20))
  return ms * (0.5 + Math.random() / 2)
}

/** Parses a `Retry-After` header, in seconds or as a date (RFC 9110, 10.2.3). Undefined if the time has passed. */
export function parseRetryAfter(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined
  const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds > 0 ? seconds : undefined
}
