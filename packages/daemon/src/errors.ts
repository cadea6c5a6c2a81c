/** What the daemon answers when it cannot do what was asked, in the terms of OpenAI's API. */
export class Fault extends Error {
  override name = 'Fault'
  readonly status: number
  /** A stable word for programs. */
  readonly code: string | null
  /** The parameter that is at fault. */
  readonly param: string | null
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    message: string,
    {
      code = null,
      param = null,
      retryAfterSeconds,
    }: { code?: string | null; param?: string | null; retryAfterSeconds?: number } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A parameter that this daemon cannot honour. */
export function unsupported(param: string, why = 'is not supported here'): Fault {
  return new Fault(400, `${param} ${why}`, { code: 'unsupported_parameter', param })
}

/** Clients of Ollama look for the first words, to offer a pull. */
export function modelNotFound(id: string): Fault {
  const name = id.replace(/:latest$/, '')
  return new Fault(404, `model '${id}' not found, try pulling it first: shoal pull ${name}`, {
    code: 'model_not_found',
    param: 'model',
  })
}

/** A bad setting: the process does not start. The message names the variable. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
