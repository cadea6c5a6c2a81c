import { describePage } from '@shoal/core/errors'
import {
  ApiError,
  isTransient,
  NetworkError,
  type NetworkFailure,
  problemIn,
} from '@shoal/protocol/client'
import { parseRetryAfter } from '@shoal/protocol/retry-after'
import { bytesRefused } from './errors.ts'

/**
 * The cause of a failed request, classified by how to react to it. It is a plain object, because it is sent between
 * threads.
 */
export type TransferFailure = {
  /**
   * - `lost`: the connection broke, stalled or could not be opened.
   * - `busy`: the server cannot handle the request at the moment.
   * - `refused`: the server will not send the bytes at this URL.
   * - `disk`: the bytes cannot be written.
   */
  kind: 'lost' | 'busy' | 'refused' | 'disk'
  message: string
  /**
   * The network failure that caused this failure. Always set for `lost`; set for `refused` if the cause is a permanent
   * network failure, for example a response that does not come from a registry.
   */
  networkFailure?: NetworkFailure
  status?: number
  retryAfterSeconds?: number
  /** The registry's own explanation. */
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
 * Returns the failure of an API call to `host` if a retry may help; undefined for all other errors.
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
  if (failure.kind !== 'busy') return undefined
  const isAsked = failure.retryAfterSeconds !== undefined
  return { ...failure, detail, ...(isAsked && { message: `${host} is busy (${status})` }) }
}

/** Whether the registry's storage is full. Waiting does not free storage. */
const isStorageFull = ({ status, problem }: ApiError) =>
  status === 507 || problem.code === 'storage_full'

/** Returns the failure for an HTTP status of 400 or higher. `text`: the response's body. */
export function classifyStatus(
  status: number,
  host: string,
  retryAfter: string | undefined,
  text = '',
): TransferFailure {
  const detail = problemIn(text)?.detail
  const message = `${host} returned ${describePage(status, text)}`
  const failure = { message, status, ...(detail && { detail }) }
  if (status !== 429 && status !== 408 && status < 500) return { kind: 'refused', ...failure }
  const retryAfterSeconds = parseRetryAfter(retryAfter)
  return { kind: 'busy', ...failure, ...(retryAfterSeconds && { retryAfterSeconds }) }
}

/** Classifies a network failure. A permanent failure counts as `refused`, because another URL may work. */
export function classifyNetworkError(networkFailure: NetworkFailure): TransferFailure {
  const kind = isTransient(networkFailure) ? 'lost' : 'refused'
  return { kind, message: `${networkFailure.host}: ${networkFailure.detail}`, networkFailure }
}

/** The error to throw when a transfer gives up. */
export function toError({ networkFailure, message, detail, status }: TransferFailure): Error {
  if (networkFailure) return new NetworkError(networkFailure)
  return bytesRefused(detail === undefined ? message : `${message}: ${detail}`, status)
}
