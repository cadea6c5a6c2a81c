import type { RetryTimes } from '@shoal/protocol/client'

/** How long calls are retried before the registry first responds: long enough for a registry to start. */
const firstContactMs = 10_000

/** How long the API calls of a pull or push are retried: for as long as its requests for chunks. */
export const transferRetry = ({ timeoutMs }: { timeoutMs: number }): RetryTimes => ({
  firstContactMs: Math.min(firstContactMs, timeoutMs),
  giveUpMs: timeoutMs,
})
