import type { TransferFailure } from '@shoal/transfer/push'

/** A wait before a retry, which is shown to the visitor. */
export type UploadWait = {
  /** In milliseconds since 1970. */
  until: number
  reason: string
}

export const isOffline = () => navigator.onLine === false

/** Returns why the upload waits, as a sentence without the full stop. */
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
