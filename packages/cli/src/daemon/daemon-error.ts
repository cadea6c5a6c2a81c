/** Converts errors from the daemon into failures to report to the user. */
import type { AppError, ErrorOf } from '@shoal/core/errors'
import type { Ending } from '@shoal/core/errors/table'
import { DaemonGoneError } from '@shoal/protocol/inference-client'
import { Failure } from '../terminal/failure.ts'
import { toSentence, toTerminalLine } from '../terminal/terminal-text.ts'
import { describeStranger, type Stranger } from './stranger.ts'

/** Thrown if the user's daemon does not respond. Another program may be using its address. */
export class NoDaemonError extends DaemonGoneError {
  /** The other program that responds at the daemon's address. */
  readonly stranger: Stranger | undefined
  constructor(url: string, stranger: Stranger | undefined) {
    super(url, false)
    this.stranger = stranger
  }
}

const endingsByStatus: Record<number, Ending> = {
  401: 'not_signed_in',
  403: 'not_permitted',
  404: 'not_found',
}

const hints: Record<string, string> = {
  not_signed_in: "Set SHOAL_API_KEY to the daemon's API key.",
  no_room: 'Use a smaller file, or set a shorter context length with SHOAL_CONTEXT_LENGTH.',
  queue_full: 'Try again later.',
}

/** Converts a daemon's error. The daemon may be running in this process, or may have exited. */
export function toDaemonFailure(error: ErrorOf<'daemon_refused' | 'daemon_gone'>): Failure {
  if (error.code === 'daemon_gone') return goneFailure(error)
  const { status, reason } = error.details
  const isShortOfMemory = reason === 'insufficient_memory'
  const meaning = isShortOfMemory ? 'no_room' : (endingsByStatus[status] ?? 'failed')
  const message = toTerminalLine(error.message)
  return new Failure(meaning, toSentence(message), {
    hint: hints[meaning] ?? hints[reason ?? ''],
    details: { status, ...(reason !== null && { reason }) },
    cause: error,
  })
}

function goneFailure(error: AppError<'daemon_gone'>): Failure {
  if (error instanceof NoDaemonError && error.stranger) {
    const { text, advice } = describeStranger(error.stranger)
    const isOurs = error.stranger.kind === 'earlier'
    const message = isOurs ? text : `Your daemon is not running. ${text}`
    return new Failure('unreachable', message, { hint: advice, cause: error })
  }
  const label = error.details.url.replace(/^https?:\/\//, '')
  if (error.details.hadBegun) {
    return new Failure('unreachable', `The daemon at ${label} stopped during the request.`, {
      hint: 'To see why: shoal logs',
      cause: error,
    })
  }
  return new Failure('unreachable', `No daemon responds at ${label}.`, {
    hint: 'Start a daemon with shoal serve, or pass another address with --inference or SHOAL_INFERENCE.',
    cause: error,
  })
}
