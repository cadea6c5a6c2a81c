import type { ErrorCode, ErrorDetails } from './error-details.ts'

/**
 * The base class of all shoal errors: `code` identifies the error, `details` holds the data needed to handle it, and
 * `message` is a lowercase phrase. `code` and `details` are own properties with plain values, so an RPC call can pass
 * them to another thread.
 */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails[C]

  constructor(code: C, message: string, details: ErrorDetails[C], options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

/** An error with one of the codes `C`, and the details that belong to that code. */
export type ErrorOf<C extends ErrorCode> = { [K in C]: AppError<K> }[C]

/**
 * Whether `error` has one of these codes. Checks the properties instead of the class, because the error may come from a
 * separately loaded package, another realm or another thread. Errors from Node and from libraries have a `code` but no
 * `details`.
 */
export function hasCode<C extends ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ErrorOf<C> {
  const { code, details } = Object(error) as { code?: unknown; details?: unknown }
  return typeof details === 'object' && (codes as readonly unknown[]).includes(code)
}
