/** The errors of requests to an inference daemon. */
import { AppError } from '@shoal/core/errors'

/** An error that the daemon returned as a response or sent within a stream. `message` is the daemon's message. */
export class DaemonError extends AppError<'daemon_refused'> {
  /**
   * `status` is 500 for an error within a stream. `reason` is an identifier for programs, such as `model_not_found`.
   */
  constructor(status: number, message: string, reason: string | null, retryAfterSeconds?: number) {
    super('daemon_refused', message, { status, reason, retryAfterSeconds })
  }
}

/** The error for a missing, incomplete or malformed response. */
export class DaemonGoneError extends AppError<'daemon_gone'> {
  constructor(url: string, hadBegun: boolean, options?: ErrorOptions) {
    super('daemon_gone', `no usable response from the daemon at ${url}`, { url, hadBegun }, options)
  }
}

type Origin = { status: number; retryAfterSeconds?: number | undefined }

/**
 * Finds the error in a response body or stream event; undefined if there is none. In OpenAI's format, `error` is an
 * object; in Ollama's, it is a string with `code` next to it. Both formats may also contain `detail`.
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

/** Converts an error response to a `DaemonError`. The response may be from an intermediary, such as a proxy. */
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

/** Parses a JSON object. Returns an empty object if the text is not JSON. */
function objectIn(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
