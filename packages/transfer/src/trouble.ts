import { parseRetryAfter } from '@shoal/network/backoff'
import { ApiError, isTransient, NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import { bytesRefused } from './errors.ts'

/** Why a request brought nothing, in the terms that decide what to do next. It crosses threads, so it is plain. */
export type Trouble = {
  /**
   * lost: the connection broke, stalled or never was. busy: the other side wants us to wait.
   * refused: it will not give the bytes under this URL. disk: the bytes cannot be written.
   */
  kind: 'lost' | 'busy' | 'refused' | 'disk'
  message: string
  /** What the network says, for `lost`, and where something else answers than a registry. */
  failure?: NetworkFailure
  status?: number
  retryAfterSeconds?: number
  /** What the registry itself says of it. */
  detail?: string
  /** The system's error code, for `disk`. */
  code?: string
}

export class TroubleError extends Error {
  override name = 'TroubleError'
  readonly trouble: Trouble
  constructor(trouble: Trouble) {
    super(trouble.message)
    this.trouble = trouble
  }
}

/** An error of a call of the API at `host` as trouble that waiting may mend; undefined where it is none. */
export function troubleOf(error: unknown, host: string): Trouble | undefined {
  if (error instanceof NetworkError) {
    return isTransient(error.failure) ? troubleOfNetwork(error.failure) : undefined
  }
  if (!(error instanceof ApiError) || isStorageFull(error)) return undefined
  const { status, retryAfter, message: detail } = error
  const trouble = troubleOfStatus(status, host, retryAfter)
  if (trouble?.kind !== 'busy') return undefined
  const isAsked = trouble.retryAfterSeconds !== undefined
  return { ...trouble, detail, ...(isAsked && { message: `${host} asks for it (${status})` }) }
}

/** Waiting does not help. */
const isStorageFull = ({ status, problem }: ApiError) =>
  status === 507 || problem.code === 'storage_full'

/** What an answer without success means; undefined for a success or a redirect. */
export function troubleOfStatus(
  status: number,
  host: string,
  retryAfter: string | undefined,
): Trouble | undefined {
  if (status < 400) return undefined
  const message = `${host} answered ${status}`
  if (status !== 429 && status !== 408 && status < 500) return { kind: 'refused', message, status }
  const retryAfterSeconds = parseRetryAfter(retryAfter)
  return { kind: 'busy', message, status, ...(retryAfterSeconds && { retryAfterSeconds }) }
}

/** What does not go away by itself is as good as a refusal: another way may be open. */
export function troubleOfNetwork(failure: NetworkFailure): Trouble {
  const kind = isTransient(failure) ? 'lost' : 'refused'
  return { kind, message: `${failure.host}: ${failure.detail}`, failure }
}

/** The error that a transfer ends with when there is no more hope. */
export function errorOfTrouble({ failure, message, status }: Trouble): Error {
  return failure ? new NetworkError(failure) : bytesRefused(message, status)
}

export function troubleOfDisk(error: unknown, what: string): Trouble {
  const { message = String(error), code } = (error ?? {}) as { message?: string; code?: string }
  return { kind: 'disk', message: `${what}: ${message || code}`, ...(code && { code }) }
}
