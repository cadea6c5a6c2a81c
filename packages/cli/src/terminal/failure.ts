import { type Ending, exitCodes } from '@shoal/core/errors/table'

/** An error that ends a command: a sentence, a hint and an exit code. */
export class Failure extends Error {
  override name = 'Failure'
  readonly code: Ending
  /** One or more lines, without indentation. */
  readonly hint: string | undefined
  /** Additional members of the error under `--json`. */
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

/**
 * Runs a parser of text that the user typed. If its failure does not contain `name`, the name of an option, variable or
 * setting, throws a failure that does.
 */
export function namingInput<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Failure) || error.message.includes(name)) throw error
    const { code, message, hint, members } = error
    throw new Failure(code, `${name}: ${message}`, { hint, details: members, cause: error })
  }
}

/** Creates the failure for an invalid command line. */
export const misuse = (message: string, hint?: string) => new Failure('usage', message, { hint })
