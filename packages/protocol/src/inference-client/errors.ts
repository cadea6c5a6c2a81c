/** Errors from an inference daemon, and its failure to respond. */
import { AppError } from '@shoal/core/errors'

/** The daemon returned an error, or sent one within a stream. `message` is the daemon's own. */
export class DaemonError extends AppError<'daemon_refused'> {
  /** `status` is 500 for an error within a stream. `reason` is an identifier for programs, such as `model_not_found`. */
  constructor(status: number, message: string, reason: string | null, retryAfterSeconds?: number) {
    super('daemon_refused', message, { status, reason, retryAfterSeconds })
  }
}

/** There was no response, or it was cut off or malformed. */
export class DaemonGoneError extends AppError<'daemon_gone'> {
  constructor(url: string, hadBegun: boolean, options?: ErrorOptions) {
    super('daemon_gone', `no response from the daemon at ${url}`, { url, hadBegun }, options)
  }
}

type Origin = { status: number; retryAfterSeconds?: number | undefined }

/**
 * The error in a response body or stream event; undefined if there is none. `error` is an object in OpenAI's format and a
 * string in Ollama's, with `code` next to it; `detail` is in both.
 */
export function errorIn(
  answer: object,
  { status, retryAfterSeconds }: Origin,
): DaemonError | undefined {
  const { detail, error, ...beside } = answer as { detail?: unknown; error?: unknown }
  if (isMissing(error) && isMissing(detail)) return undefined
  const { message, code } = (typeof error === 'object' && error !== null ? error : beside) as {
    message?: unknown
    code?: unknown
  }
  const text = [message, detail, error].find((one) => typeof one === 'string' && one !== '')
  const usableCode = typeof code === 'string' ? code : null
  return new DaemonError(
    status,
    text === undefined ? withoutReason(status) : String(text),
    usableCode,
    retryAfterSeconds,
  )
}

/** The error in a response that is not a success. The response may come from an intermediary. */
export function parseDaemonError(body: string, origin: Origin): DaemonError {
  const { status, retryAfterSeconds } = origin
  return (
    errorIn(objectIn(body), origin) ??
    new DaemonError(status, withoutReason(status), null, retryAfterSeconds)
  )
}

const isMissing = (value: unknown) => value === undefined || value === null

const withoutReason = (status: number) =>
  `the daemon returned status ${status} without an error message`

/** Empty for anything but a JSON object. */
function objectIn(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
