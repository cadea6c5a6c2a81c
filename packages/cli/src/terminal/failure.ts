/** What a program can tell apart, each with its exit code. The words stand in `--json`, the numbers in the shell. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  not_found: 3,
  not_signed_in: 4,
  not_permitted: 5,
  unreachable: 6,
  verification_failed: 7,
  no_room: 8,
  tls_failed: 9,
  proxy_failed: 10,
  not_a_registry: 11,
  redirect_refused: 12,
  registry_failed: 13,
  rate_limited: 14,
  stopped: 130,
} as const

export type FailureCode = keyof typeof exitCodes

/** The end of a command that could not do what was asked: a sentence, and what to do about it. */
export class Failure extends Error {
  override name = 'Failure'
  readonly code: FailureCode
  /** One or more lines, without indentation. */
  readonly hint: string | undefined
  /** Further members of the error in `--json`. */
  readonly details: Record<string, unknown>

  constructor(
    code: FailureCode,
    message: string,
    {
      hint,
      details = {},
      cause,
    }: { hint?: string | undefined; details?: object; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.hint = hint
    this.details = { ...details }
  }

  get exitCode(): number {
    return exitCodes[this.code]
  }
}

/** A command line that cannot be meant. */
export const misuse = (message: string, hint?: string) => new Failure('usage', message, { hint })
