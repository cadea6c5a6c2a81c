/** What can go wrong, without HTTP. `http/error-handler.ts` gives each problem its status. */
export type ProblemKind =
  | 'invalid' // a path, query or header value
  | 'unprocessable' // a body that is well-formed and wrong
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'too-slow' // a sender that has stopped sending
  | 'busy' // come back later
  | 'unavailable' // the database or the store is not there, or the disk is full

export type ProblemExtras = {
  code?: string
  errors?: { path: string; message: string }[]
  missing_count?: number
  retryAfterSeconds?: number
}

export class DomainError extends Error {
  override name = 'DomainError'
  readonly problem: ProblemKind
  readonly extras: ProblemExtras
  constructor(problem: ProblemKind, message: string, extras: ProblemExtras = {}) {
    super(message)
    this.problem = problem
    this.extras = extras
  }
}

const problem =
  (kind: ProblemKind) =>
  (message: string, extras?: ProblemExtras): DomainError =>
    new DomainError(kind, message, extras)

export const invalid = problem('invalid')
export const unprocessable = problem('unprocessable')
export const unauthenticated = problem('unauthenticated')
export const forbidden = problem('forbidden')
export const notFound = problem('not-found')
export const conflict = problem('conflict')
export const tooLarge = problem('too-large')
export const tooSlow = problem('too-slow')
export const busy = problem('busy')
export const unavailable = problem('unavailable')

/** There is no room on the disk now. */
export class StorageFullError extends DomainError {
  override name = 'StorageFullError'
  /** What would have to be freed. */
  readonly missingBytes: number
  constructor(message: string, missingBytes: number) {
    super('unavailable', message, { code: 'storage_full', retryAfterSeconds: 60 })
    this.missingBytes = missingBytes
  }
}

/** A bad setting: the process does not start. The message names the variable. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
