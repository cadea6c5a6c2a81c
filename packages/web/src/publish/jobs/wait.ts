import type { TransferFailure } from '@shoal/transfer/push'

/** What the visitor is told while nothing moves. */
export type Wait = {
  /** In milliseconds since 1970. */
  until: number
  reason: string
}

export const isOffline = () => navigator.onLine === false

/** Why nothing moves, as the beginning of a sentence. */
export function reasonOf({
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
