import type { TransferFailure } from '@shoal/transfer/push'

/** A wait before a retry, as shown to the visitor. */
export type UploadWait = {
  /** The time of the retry, in milliseconds since 1970. */
  until: number
  reason: string
}

export const isOffline = () => navigator.onLine === false

/** Returns the reason for the wait, as a sentence without a period. */
export function formatReason({
  retryAfterSeconds,
  networkFailure,
  detail,
  message,
}: TransferFailure): string {
  if (retryAfterSeconds !== undefined) return 'The registry is busy'
  if (isOffline()) return 'You are offline'
  if (networkFailure) return 'The registry is not responding'
  const reason = detail ?? message
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}
