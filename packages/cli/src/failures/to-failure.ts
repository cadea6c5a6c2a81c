/** Turns every error into a message, a hint and an exit code for the user. */
import type { AppError, ErrorCode, ErrorOf } from '@shoal/core/errors'
import { type Ending, errorTable, isAppError } from '@shoal/core/errors/table'
import { isErrno } from '@shoal/files'
import type { NetworkFailure } from '@shoal/protocol/client'
import type { CommanderError } from 'commander'
import { toDaemonFailure } from '../daemon/daemon-error.ts'
import { registryLabel } from '../settings/address.ts'
import { aboutRefusedToken, type RegistryAccess } from '../settings/refused-token.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { shortHash, toSentence, toTerminalLine } from '../terminal/terminal-text.ts'
import { formatBytes } from '../terminal/units.ts'
import { networkFailure } from './network-failures.ts'

export function toFailure(error: unknown, lastRegistry: RegistryAccess | undefined): Failure {
  if (error instanceof Failure) return error
  if (isAppError(error)) return toAppFailure(error, lastRegistry)
  if (!(error instanceof Error)) return new Failure('failed', String(error))
  if (error.name === 'AbortError') return new Failure('stopped', 'Stopped.', { cause: error })
  if (isErrno(error, 'ENOSPC')) {
    return new Failure('no_room', 'The disk is full.', {
      hint: 'Downloaded data is kept. Free up space, then run the same command again.',
      cause: error,
    })
  }
  if (isErrno(error, 'EADDRINUSE')) return portTaken(error)
  return new Failure('failed', toSentence(error.message), { cause: error })
}

/** For most codes, the exit code from the table and the error's own message are enough. */
function toAppFailure(
  error: ErrorOf<ErrorCode>,
  lastRegistry: RegistryAccess | undefined,
): Failure {
  switch (error.code) {
    case 'registry_refused':
      return refusal(error, lastRegistry)
    case 'daemon_refused':
    case 'daemon_gone':
      return toDaemonFailure(error)
    case 'unreachable':
    case 'tls_failed':
    case 'proxy_failed':
    case 'not_a_registry':
    case 'redirect_refused':
      return networkFailure({ code: error.code, ...error.details } as NetworkFailure, error)
    case 'bytes_refused':
      return bytesRefused(error, lastRegistry)
    case 'verification_failed':
      return verificationFailure(error)
    case 'no_room':
      return noRoom(error)
    case 'ambiguous_choice':
      return ambiguous(error)
    case 'invalid_network_setting':
      return misuse(error.message)
    default: {
      const hint = hints[error.code]
      return new Failure(getEnding(error.code), toSentence(error.message), { hint, cause: error })
    }
  }
}

const hints: { [C in ErrorCode]?: string } = {
  file_in_the_way: 'Move the existing file, or choose another destination with --output.',
  is_link: 'To let shoal store files there, replace the link by a folder.',
}

/**
 * Returns how an error ends the command. Codes with an HTTP status are thrown only in servers. `shoal admin` receives
 * the registry's errors directly, not as HTTP responses, and ends with `failed` or `not_found`.
 */
function getEnding(code: ErrorCode): Ending {
  const { status, ending } = errorTable[code]
  return status === undefined || ending === 'not_found' ? ending : 'failed'
}

/** `command`: the command whose options and arguments are invalid, such as `shoal pull`. */
export function toMisuse(error: CommanderError, command: string): Failure {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const hint = rest.map((line) => line.replace(/^\((.*)\)$/, '$1')).join('\n')
  const text = first.replace(/'([^']*)'/g, '“$1”')
  return new Failure('usage', toSentence(text), {
    hint: hint || `See ${command} --help.`,
    cause: error,
  })
}

const endingsByStatus = new Map(
  Object.values(errorTable).map(({ status, ending }) => [status, ending]),
)

const getStatusEnding = (status: number): Ending =>
  status >= 500 ? 'registry_failed' : (endingsByStatus.get(status) ?? 'failed')

function refusal(
  error: AppError<'registry_refused'>,
  lastRegistry: RegistryAccess | undefined,
): Failure {
  const { status, problem, isForeign = false } = error.details
  const reason = problem.code ?? (status >= 500 || isForeign ? `http_${status}` : undefined)
  const details = { status, ...(reason && { reason }) }
  if (status === 401 && lastRegistry && !isForeign) {
    const { message, hint } = aboutRefusedToken(lastRegistry)
    return new Failure('not_signed_in', message, { hint, details, cause: error })
  }
  // If only one field is invalid, the message names it.
  const fields = (problem.errors?.length ?? 0) > 1 ? problem.errors : undefined
  const lines = fields?.map(({ path, message }) => toTerminalLine(`${path} ${message}`))
  const hint = hintForStatus(status, isForeign) ?? lines?.join('\n')
  const text = toSentence(toTerminalLine(error.message))
  return new Failure(getStatusEnding(status), text, { hint, details, cause: error })
}

function hintForStatus(status: number, isForeign: boolean): string | undefined {
  if (status === 413 && isForeign) return requestLimit
  if (status === 429 || (status === 408 && isForeign)) return 'Try again later.'
  if (status < 500) return undefined
  return isForeign
    ? 'Try again later. The registry may be down: see the log of the server in front of it.'
    : "Try again later. For details, see the registry's log."
}

const requestLimit =
  "The registry's operator must allow larger requests there: a chunk has 16 MiB or more. In nginx, set client_max_body_size 0."

/**
 * Returns the failure for a file that the registry lists, but that cannot be sent or stored. The user's sign-in is
 * never the cause.
 */
function bytesRefused(
  error: AppError<'bytes_refused'>,
  lastRegistry: RegistryAccess | undefined,
): Failure {
  const { status } = error.details
  const label = lastRegistry ? registryLabel(lastRegistry.address) : 'the registry'
  const code = status === 429 ? 'rate_limited' : 'registry_failed'
  return new Failure(
    code,
    `The file's data could not be transferred: ${toTerminalLine(error.message)}.`,
    {
      hint: formatBytesRefusedHint(status, label),
      details: { reason: 'bytes_refused', ...(status !== undefined && { status }) },
      cause: error,
    },
  )
}

function formatBytesRefusedHint(status: number | undefined, label: string): string {
  if (status === 413) return requestLimit
  const again = 'Transferred data is kept. Run the same command again later.'
  if (status === 401 || status === 403) {
    return `${again}\nIf the error persists, a server's clock may be wrong, or the store may not allow the request.`
  }
  const isLost = status === 404 || status === 410
  return isLost ? `${again}\nIf the error persists, ${label} may have lost the file.` : again
}

function ambiguous({ details }: AppError<'ambiguous_choice'>): Failure {
  const { wanted, labels } = details
  return misuse(
    `Several files match ${wanted}.`,
    `Choose one of ${labels.map(toTerminalLine).join(', ')}.`,
  )
}

function verificationFailure(error: AppError<'verification_failed'>): Failure {
  const { expected, actual, chunkIndex, isDeleted } = error.details
  const kept = isDeleted
    ? 'The damaged file was deleted. '
    : chunkIndex === undefined
      ? ''
      : 'Verified data is kept. '
  return new Failure(
    'verification_failed',
    chunkIndex === undefined
      ? toSentence(toTerminalLine(error.message))
      : `Chunk ${chunkIndex} of the file does not match its SHA-256, even after several downloads.`,
    {
      hint: [
        ...(actual === undefined
          ? []
          : [`expected ${shortHash(expected)}`, `got      ${shortHash(actual)}`]),
        `${kept}If the error persists, contact the publisher.`,
      ].join('\n'),
      details: {
        expected,
        ...(actual !== undefined && { actual }),
        ...(chunkIndex !== undefined && { chunk_index: chunkIndex }),
      },
      cause: error,
    },
  )
}

function noRoom(error: AppError<'no_room'>): Failure {
  const { neededBytes, freeBytes } = error.details
  return new Failure('no_room', 'There is not enough disk space.', {
    hint: [
      `${formatBytes(neededBytes)} needed, ${formatBytes(freeBytes)} free.`,
      'Downloaded data is kept. Free up space (shoal ls, shoal rm), then run the same command again.',
    ].join('\n'),
    details: { needed_bytes: neededBytes, free_bytes: freeBytes },
    cause: error,
  })
}

function portTaken(error: NodeJS.ErrnoException & { port?: number }): Failure {
  const { port = 0 } = error
  return new Failure('failed', `Port ${port} is in use by another program.`, {
    hint: `Stop that program, or use another port: --port ${port + 1}`,
    cause: error,
  })
}
