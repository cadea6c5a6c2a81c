/** What can go wrong with an inference daemon: it answers with an error, or it does not answer. */
import { AppError } from '@shoal/core/errors'

/** The daemon answered with an error, or sent one in the middle of a stream. `message` is in its words. */
export class DaemonError extends AppError<'daemon_refused'> {
  /** `status` is 500 for an error in the middle of a stream; `reason` is a word for programs, such as `model_not_found`. */
  constructor(status: number, message: string, reason: string | null, retryAfterSeconds?: number) {
    super('daemon_refused', message, { status, reason, retryAfterSeconds })
  }
}

/** No answer came, or it broke off, or it makes no sense. */
export class DaemonGoneError extends AppError<'daemon_gone'> {
  constructor(url: string, hadBegun: boolean, options?: ErrorOptions) {
    super('daemon_gone', `no answer from the daemon at ${url}`, { url, hadBegun }, options)
  }
}

type Origin = { status: number; retryAfterSeconds?: number | undefined }

/**
 * The error in the body of an answer or in an event of a stream; undefined if it has none. `error` is an object in OpenAI's
 * shape and a sentence in Ollama's, with `code` next to it; `detail` is in both.
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

/** The error of an answer that is not a success. Something between us and the daemon may have answered. */
export function parseDaemonError(body: string, origin: Origin): DaemonError {
  const { status, retryAfterSeconds } = origin
  return (
    errorIn(objectIn(body), origin) ??
    new DaemonError(status, withoutReason(status), null, retryAfterSeconds)
  )
}

const isMissing = (value: unknown) => value === undefined || value === null

const withoutReason = (status: number) => `the daemon answered ${status} without saying why`

/** Empty for what is not a JSON object. */
function objectIn(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
