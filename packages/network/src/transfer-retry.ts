import type { RetryTimes } from '@shoal/protocol/client'

/** A registry that is just starting is there by then. */
const firstContactMs = 10_000

/** How long the calls of a pull or push are tried again: as long as its bytes. */
export const transferRetry = ({ giveUpMs }: { giveUpMs: number }): RetryTimes => ({
  firstContactMs: Math.min(firstContactMs, giveUpMs),
  giveUpMs,
})
