import { hasCode } from '@shoal/core/errors'
import { NetworkError } from '@shoal/protocol/client'
import { bytesRefused } from '../errors.ts'

const maxRefusals = 5

/**
 * Decides what to do if a chunk was refused, for the `count`-th time: `renew` if its URL has expired, and `check` if the
 * chunk arrived damaged.
 * @throws the error with which the push fails, if sending the chunk again cannot help
 */
export function afterRefusal(error: unknown, count: number): 'renew' | 'check' {
  if (!hasCode(error, 'registry_refused', 'bytes_refused')) throw error
  const { status = 0 } = error.details
  const isExpired = [401, 403, 404].includes(status)
  const isMismatch = status === 400
  if (count < maxRefusals && isMismatch) return 'check'
  if (count < maxRefusals && isExpired) return 'renew'
  // Here, statuses 401, 403 and 404 concern the chunk's URL, not the user's credentials, so the error must not suggest
  // signing in.
  if (error.cause instanceof NetworkError) throw error.cause
  throw isExpired ? bytesRefused(error.message, status) : error
}
