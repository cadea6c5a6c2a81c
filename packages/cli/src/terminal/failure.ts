import { type Ending, exitCodes } from '@shoal/core/errors/table'

/** The end of a command that could not do what was asked: a sentence, and what to do about it. */
export class Failure extends Error {
  override name = 'Failure'
  readonly code: Ending
  /** One or more lines, without indentation. */
  readonly hint: string | undefined
  /** Further members of the error in `--json`. */
  readonly members: Record<string, unknown>

  constructor(
    code: Ending,
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
    this.members = { ...details }
  }

  get exitCode(): number {
    return exitCodes[this.code]
  }
}

/** A command line that cannot be meant. */
export const misuse = (message: string, hint?: string) => new Failure('usage', message, { hint })
