/**
 * The registry's errors, independent of HTTP. `errorTable` in `@shoal/core/errors/table` maps each code to an HTTP
 * status.
 */
import { AppError, type ErrorDetails, hasCode } from '@shoal/core/errors'

export { ConfigError } from '@shoal/core/errors'

const problemCodes = [
  'invalid', // a path, query or header value
  'unprocessable', // a body that is well-formed but invalid
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'too_slow', // a client that has stopped sending
  'busy', // retry later
  'unavailable', // the database or the store cannot be reached, or the disk is full
] as const

type ProblemCode = (typeof problemCodes)[number]

const problem =
  <C extends ProblemCode>(code: C) =>
  (message: string, details: ErrorDetails[C] = {}): AppError<C> =>
    new AppError(code, message, details)

export const invalid = problem('invalid')
export const unprocessable = problem('unprocessable')
export const unauthenticated = problem('unauthenticated')
export const forbidden = problem('forbidden')
export const notFound = problem('not_found')

/** @param idOrName as in the request; it is shortened, because it can be of any length */
export const unknownModel = (idOrName: string) =>
  notFound(`no model ${idOrName.slice(0, 96)}`, { code: 'model_unknown' })

/** @param username as in the request; it is shortened, because it can be of any length */
export const unknownUser = (username: string) =>
  notFound(`no user ${username.slice(0, 64)}`, { code: 'user_unknown' })

export const conflict = problem('conflict')
export const tooLarge = problem('too_large')
export const tooSlow = problem('too_slow')
export const busy = problem('busy')
export const unavailable = problem('unavailable')

/** Returns the error for a full disk. `missingBytes` is the number of bytes that must be freed; 0 if unknown. */
export const storageFull = (message: string, missingBytes: number) =>
  new AppError('storage_full', message, { missingBytes })

export type ProblemDetails = ErrorDetails[ProblemCode]

export type DomainError = AppError<ProblemCode | 'storage_full'>

/** Whether the error was caused by the request or by the registry's environment, and not by a bug in the registry. */
export const isDomainError = (error: unknown): error is DomainError =>
  hasCode(error, ...problemCodes, 'storage_full')
