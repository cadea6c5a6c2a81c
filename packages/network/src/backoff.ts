const firstMs = 250
/** A registry that is back is noticed within it, and one that is busy is not asked by everybody at once. */
const longestMs = 2_000

/** How long to wait after the failure number `count`, from 1: growing, with jitter so that many clients do not come back at once. */
export function backoffMs(count: number, maxMs = longestMs): number {
  const milliseconds = Math.min(maxMs, firstMs * 2 ** Math.min(count - 1, 20))
  return milliseconds * (0.5 + Math.random() / 2)
}

/** Seconds to wait as `Retry-After` says them, in seconds or as a date (RFC 9110, 10.2.3); undefined where it says no time to come. */
export function parseRetryAfter(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined
  const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return seconds > 0 ? seconds : undefined
}
