import type { RetryTimes } from '@shoal/protocol/client'

/** Long enough for a registry to start. */
const firstContactMs = 10_000

/** How long the API calls of a pull or push are retried, which is as long as its requests for chunks. */
export const transferRetry = ({ timeoutMs }: { timeoutMs: number }): RetryTimes => ({
  firstContactMs: Math.min(firstContactMs, timeoutMs),
  giveUpMs: timeoutMs,
})
