/** What can go wrong with the daemon, and what that means to whoever typed the command. */
import { Failure, type FailureCode } from '../terminal/failure.ts'
import { plainLine, sentence } from '../terminal/plain-text.ts'
import { describeStranger, type Stranger } from './stranger.ts'

/** The daemon answered with an error. */
export class DaemonError extends Error {
  override name = 'DaemonError'
  readonly status: number
  /** A stable word for programs, as `model_not_found`; null where the daemon gives none. */
  readonly code: string | null
  constructor(status: number, message: string, code: string | null) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** No answer came, or it broke off. */
export class DaemonGoneError extends Error {
  override name = 'DaemonGoneError'
  readonly url: string
  /** Whether the daemon had begun to answer. */
  readonly hadBegun: boolean
  /** What is there in its place. */
  readonly stranger: Stranger | undefined
  constructor(
    url: string,
    hadBegun: boolean,
    { cause, stranger }: { cause?: unknown; stranger?: Stranger | undefined } = {},
  ) {
    super(`no answer from the daemon at ${url}`, { cause })
    this.url = url
    this.hadBegun = hadBegun
    this.stranger = stranger
  }
}

const codeOfStatus: Record<number, FailureCode> = {
  401: 'not_signed_in',
  403: 'not_permitted',
  404: 'not_found',
}

const hintOf: Record<string, string> = {
  not_signed_in: 'Set SHOAL_API_KEY to its key.',
  no_room: 'A smaller file needs less, and so does a shorter context: SHOAL_CONTEXT_LENGTH.',
  queue_full: 'Try again a little later.',
}

export function failureOfDaemon(error: DaemonError | DaemonGoneError): Failure {
  if (error instanceof DaemonGoneError) return goneFailure(error)
  const { status, code } = error
  const isShortOfMemory = code === 'insufficient_memory'
  const meaning = isShortOfMemory ? 'no_room' : (codeOfStatus[status] ?? 'failed')
  const message = plainLine(error.message)
  return new Failure(meaning, sentence(message), {
    hint: hintOf[meaning] ?? hintOf[code ?? ''],
    details: { status, ...(code !== null && { reason: code }) },
    cause: error,
  })
}

function goneFailure(error: DaemonGoneError): Failure {
  if (error.stranger) {
    const { text, advice } = describeStranger(error.stranger)
    const isOurs = error.stranger.kind === 'earlier'
    const message = isOurs ? text : `No daemon of yours is running. ${text}`
    return new Failure('unreachable', message, { hint: advice, cause: error })
  }
  const label = error.url.replace(/^https?:\/\//, '')
  if (error.hadBegun) {
    return new Failure('unreachable', `The daemon at ${label} went away in the middle of it.`, {
      hint: 'shoal logs may say why.',
      cause: error,
    })
  }
  return new Failure('unreachable', `No daemon answers at ${label}.`, {
    hint: 'Start one with shoal serve, or name another with SHOAL_INFERENCE.',
    cause: error,
  })
}
