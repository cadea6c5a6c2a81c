import { ApiError, NetworkError } from '@shoal/protocol/client'

/** What waiting and trying again may mend. */
export class TroubleError extends Error {
  override name = 'TroubleError'
  readonly retryAfterSeconds: number | undefined
  constructor(message: string, retryAfterSeconds?: number) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** An error of a call as trouble; undefined where it is none. */
export function troubleOf(error: unknown): TroubleError | undefined {
  if (error instanceof TroubleError) return error
  if (error instanceof NetworkError) return new TroubleError('the registry does not answer')
  const isFull =
    error instanceof ApiError && (error.status === 507 || error.problem.code === 'storage_full')
  const isPassing = error instanceof ApiError && error.status >= 500 && !isFull
  return isPassing ? new TroubleError(error.message) : undefined
}
