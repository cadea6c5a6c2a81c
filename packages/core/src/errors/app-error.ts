import type { ErrorCode, ErrorDetails } from './error-details.ts'

/**
 * The one error of ours: `code` says what happened, `details` holds what the code needs to be acted on, and `message` is a
 * lower-case phrase. Both are own properties with plain values, so that they survive a message to another thread.
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

/** An error with one of the codes `C`, of which each has its own details. */
export type ErrorOf<C extends ErrorCode> = { [K in C]: AppError<K> }[C]

/**
 * Whether `error` has one of these codes. It looks at the properties, not at the class: a package that is loaded later, another
 * realm or another thread may have made it. Errors of Node and of libraries have no `details` beside their `code`.
 */
export function hasCode<C extends ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ErrorOf<C> {
  const { code, details } = Object(error) as { code?: unknown; details?: unknown }
  return typeof details === 'object' && (codes as readonly unknown[]).includes(code)
}
