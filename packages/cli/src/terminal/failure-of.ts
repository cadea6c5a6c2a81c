/** The one place that says what an error means to whoever typed the command. */
import { ApiError, NetworkError } from '@shoal/protocol/client'
import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import { CommanderError } from 'commander'
import { failureOfDaemon } from '../daemon/daemon-error.ts'
import { registryLabel } from '../settings/address.ts'
import { isErrno } from './errno.ts'
import { Failure, type FailureCode, misuse } from './failure.ts'
import { networkFailure } from './network-failures.ts'
import { plainLine, sentence } from './plain-text.ts'
import { formatBytes } from './units.ts'

/** The registry that was last spoken to. */
export type Spoken = { address: string; hasToken: boolean }

export function failureOf(error: unknown, spoken: Spoken | undefined): Failure {
  if (error instanceof Failure) return error
  if (error instanceof CommanderError) return misuseOf(error)
  if (error instanceof ApiError) return refusal(error, spoken)
  if (error instanceof DaemonError || error instanceof DaemonGoneError)
    return failureOfDaemon(error)
  if (!(error instanceof Error)) return new Failure('failed', String(error))
  const { name, message } = error
  const fail = (code: FailureCode, text: string, hint?: string, details = {}) =>
    new Failure(code, text, { hint, details, cause: error })

  if (error instanceof NetworkError) return networkFailure(error.failure, error)
  // By name: the packages that these come from are loaded only by the commands that need them.
  if (name === 'AbortError') return fail('stopped', 'Stopped.')
  if (name === 'NetworkSettingError') return misuse(message)
  if (name === 'BytesRefusedError') return bytesRefused(error, spoken)
  if (name === 'DomainError') return fail(codeOfProblem(error), sentence(message))
  if (name === 'Fault') return faultOfDaemon(error)
  if (name === 'VerificationError') return verificationFailure(error)
  if (name === 'NoRoomError') return noRoom(error)
  if (name === 'AmbiguousChoiceError') return ambiguous(error)
  if (name === 'FileInTheWayError') {
    return fail('failed', sentence(message), 'Move it away, or choose another place with --output.')
  }
  if (isErrno(error, 'ENOSPC')) {
    return fail(
      'no_room',
      'The disk is full.',
      'What was fetched is kept. Make room, then run the same command again.',
    )
  }
  if (isErrno(error, 'EADDRINUSE')) return portTaken(error)
  return fail('failed', sentence(message))
}

function misuseOf(error: CommanderError): Failure {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const hint = rest.map((line) => line.replace(/^\((.*)\)$/, '$1')).join('\n')
  const text = first.replace(/'([^']*)'/g, '“$1”')
  return new Failure('usage', sentence(text), { hint: hint || 'See shoal help.', cause: error })
}

const codeOfStatus: Record<number, FailureCode> = {
  401: 'not_signed_in',
  403: 'not_permitted',
  404: 'not_found',
  429: 'rate_limited',
}

const codeOf = (status: number): FailureCode =>
  status >= 500 ? 'registry_failed' : (codeOfStatus[status] ?? 'failed')

function refusal(error: ApiError, spoken: Spoken | undefined): Failure {
  const { status, problem } = error
  const reason = problem.code ?? (status >= 500 ? `http_${status}` : undefined)
  const details = { status, ...(reason && { reason }) }
  const label = spoken ? registryLabel(spoken.address) : 'the registry'
  if (status === 401 && spoken) {
    return new Failure(
      'not_signed_in',
      spoken.hasToken
        ? `${label} does not accept your sign-in any more.`
        : `You are not signed in to ${label}.`,
      { hint: 'Run shoal login, or set SHOAL_TOKEN.', details, cause: error },
    )
  }
  const fields = problem.errors?.map(({ path, message }) => plainLine(`${path} ${message}`))
  const hint = status === 429 || status >= 500 ? tryLater(status) : fields?.join('\n')
  const text = sentence(plainLine(error.message))
  return new Failure(codeOf(status), text, { hint, details, cause: error })
}

const tryLater = (status: number) =>
  status === 429
    ? 'Try again a little later.'
    : 'Try again a little later; the log of the registry says more.'

/** The registry knows the file and does not give its bytes, or take them: that is never the sign-in of whoever asks. */
function bytesRefused(error: Error & { status?: number }, spoken: Spoken | undefined): Failure {
  const { status } = error
  const label = spoken ? registryLabel(spoken.address) : 'the registry'
  const code = status === 429 ? 'rate_limited' : 'registry_failed'
  return new Failure(code, `The bytes are refused: ${plainLine(error.message)}.`, {
    hint: [
      `What was sent or fetched is kept. Run the same command again a little later.`,
      `If it repeats, the store of ${label} may have lost the file, or its clock or this one is wrong.`,
    ].join('\n'),
    details: { reason: 'bytes_refused', ...(status !== undefined && { status }) },
    cause: error,
  })
}

function ambiguous(error: Error & { wanted?: string; labels?: string[] }): Failure {
  const { wanted = '', labels = [] } = error
  return misuse(`There are several files in ${wanted}.`, `Name one of ${labels.join(', ')}.`)
}

/** The registry's own error, where `shoal admin` works in its data. */
function codeOfProblem({ problem }: Error & { problem?: string }): FailureCode {
  return problem === 'not-found' ? 'not_found' : 'failed'
}

/** The daemon's own error, where it runs in this process. */
function faultOfDaemon(error: Error & { status?: number; code?: string | null }): Failure {
  return failureOfDaemon(new DaemonError(error.status ?? 500, error.message, error.code ?? null))
}

function verificationFailure(
  error: Error & { expected?: string; actual?: string; chunkIndex?: number },
) {
  const { expected = '', actual = '', chunkIndex } = error
  const isWhole = chunkIndex === undefined
  return new Failure(
    'verification_failed',
    isWhole
      ? 'The finished file does not match its SHA-256.'
      : `Part ${chunkIndex + 1} of the file does not match its SHA-256, however often it is fetched.`,
    {
      hint: [
        `expected ${shortHash(expected)}`,
        `got      ${shortHash(actual)}`,
        isWhole
          ? 'The bad file was removed. If it repeats, tell the publisher.'
          : 'What was good is kept. If it repeats, tell the publisher.',
      ].join('\n'),
      details: { expected, actual, ...(!isWhole && { chunk_index: chunkIndex }) },
      cause: error,
    },
  )
}

function noRoom(error: Error & { neededBytes?: number; freeBytes?: number }): Failure {
  const { neededBytes = 0, freeBytes = 0 } = error
  return new Failure('no_room', 'There is not enough room on the disk.', {
    hint: [
      `${formatBytes(neededBytes)} needed, ${formatBytes(freeBytes)} free.`,
      'What was fetched is kept. Make room (shoal ls, shoal rm), then run the same command again.',
    ].join('\n'),
    details: { needed_bytes: neededBytes, free_bytes: freeBytes },
    cause: error,
  })
}

function portTaken(error: NodeJS.ErrnoException & { port?: number }): Failure {
  const { port = 0 } = error
  return new Failure('failed', `Port ${port} is taken by another program.`, {
    hint: `Stop it, or choose another port: --port ${port + 1}.`,
    cause: error,
  })
}

/** `9f3c…b1e0`. */
export const shortHash = (hash: string) =>
  hash.length > 8 ? `${hash.slice(0, 4)}…${hash.slice(-4)}` : hash
