import { parseRetryAfter } from '@shoal/network/backoff'
import { ApiError, isTransient, NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import { bytesRefused } from './errors.ts'

/** Why a request brought nothing, in the terms that decide what to do next. It crosses threads, so it is plain. */
export type TransferFailure = {
  /**
   * lost: the connection broke, stalled or never was. busy: the other side wants us to wait.
   * refused: it will not give the bytes under this URL. disk: the bytes cannot be written.
   */
  kind: 'lost' | 'busy' | 'refused' | 'disk'
  message: string
  /** What the network says, for `lost`, and where something else answers than a registry. */
  networkFailure?: NetworkFailure
  status?: number
  retryAfterSeconds?: number
  /** What the registry itself says of it. */
  detail?: string
  /** The system's error code, for `disk`. */
  code?: string
}

export class TransferError extends Error {
  override name = 'TransferError'
  readonly transferFailure: TransferFailure
  constructor(failure: TransferFailure) {
    super(failure.message)
    this.transferFailure = failure
  }
}

/**
 * An error of a call of the API at `host` as trouble that waiting may restore; undefined where it is none.
 * @example
 * import { classifyError } from '@shoal/transfer/push'
 *
 * try {
 *   await client.getModel('tide')
 * } catch (error) {
 *   const failure = classifyError(error, 'models.example.org')
 *   if (failure) console.log(failure.kind, failure.retryAfterSeconds)
 * }
 */
export function classifyError(error: unknown, host: string): TransferFailure | undefined {
  if (error instanceof NetworkError) {
    return isTransient(error.failure) ? classifyNetworkError(error.failure) : undefined
  }
  if (!(error instanceof ApiError) || isStorageFull(error)) return undefined
  const { status, retryAfter, message: detail } = error
  const failure = classifyStatus(status, host, retryAfter)
  if (failure?.kind !== 'busy') return undefined
  const isAsked = failure.retryAfterSeconds !== undefined
  return { ...failure, detail, ...(isAsked && { message: `${host} asks for it (${status})` }) }
}

/** Waiting does not help. */
const isStorageFull = ({ status, problem }: ApiError) =>
  status === 507 || problem.code === 'storage_full'

/** What an answer without success means; undefined for a success or a redirect. */
export function classifyStatus(
  status: number,
  host: string,
  retryAfter: string | undefined,
): TransferFailure | undefined {
  if (status < 400) return undefined
  const message = `${host} answered ${status}`
  if (status !== 429 && status !== 408 && status < 500) return { kind: 'refused', message, status }
  const retryAfterSeconds = parseRetryAfter(retryAfter)
  return { kind: 'busy', message, status, ...(retryAfterSeconds && { retryAfterSeconds }) }
}

/** What does not go away by itself is as good as a refusal: another way may be open. */
export function classifyNetworkError(networkFailure: NetworkFailure): TransferFailure {
  const kind = isTransient(networkFailure) ? 'lost' : 'refused'
  return { kind, message: `${networkFailure.host}: ${networkFailure.detail}`, networkFailure }
}

/** The error that a transfer ends with when there is no more hope. */
export function toError({ networkFailure, message, status }: TransferFailure): Error {
  return networkFailure ? new NetworkError(networkFailure) : bytesRefused(message, status)
}

export function classifyDiskError(error: unknown, what: string): TransferFailure {
  const { message = String(error), code } = (error ?? {}) as { message?: string; code?: string }
  return { kind: 'disk', message: `${what}: ${message || code}`, ...(code && { code }) }
}
