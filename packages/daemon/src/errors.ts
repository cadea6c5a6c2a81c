import { AppError, type Overflow } from '@shoal/core/errors'
import { type DaemonReason, daemonReasons } from '@shoal/core/errors/table'

export { ConfigError } from '@shoal/core/errors'

type FaultOptions = { param?: string | null; retryAfterSeconds?: number; overflow?: Overflow }

/** An error response from the daemon. Its fields correspond to those of OpenAI's API. */
export class Fault extends AppError<'daemon_refused'> {
  /**
   * `why` is a machine-readable reason, which determines the HTTP status. If no reason applies, `why` is the status
   * itself.
   */
  constructor(
    why: DaemonReason | number,
    message: string,
    { param = null, ...others }: FaultOptions = {},
  ) {
    const isReason = typeof why === 'string'
    super('daemon_refused', message, {
      status: isReason ? daemonReasons[why].status : why,
      reason: isReason ? why : null,
      param,
      ...others,
    })
  }
}

/** The error for a parameter that the daemon does not support. */
export function unsupported(param: string, why = 'is not supported by this daemon'): Fault {
  return new Fault('unsupported_parameter', `${param} ${why}`, { param })
}

/**
 * The error for an unknown model. Ollama clients recognize the beginning of the message, and then offer to pull the
 * model.
 */
export function modelNotFound(id: string): Fault {
  const name = id.replace(/:latest$/, '')
  const message = `model '${id}' not found, try pulling it first: shoal pull ${name}`
  return new Fault('model_not_found', message, { param: 'model' })
}
