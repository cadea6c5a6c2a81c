import { hasCode } from '@shoal/core/errors'
import { isErrno, reasonOfErrno } from '@shoal/files'
import { clientClosedRequest, errorHandler, withoutQuery } from '@shoal/server'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../errors.ts'
import { isPromptError, type PromptCode } from '../runtime/runtime.ts'
import { anthropicOverflow, ollamaOverflow, openaiOverflow } from './overflow-words.ts'
import { validationFault } from './validation-fault.ts'

/** `n_prompt_tokens` and `n_ctx` are llama-server's names for the numbers of tokens in the prompt and the context. */
export type ErrorBody = {
  detail: string
  error: {
    message: string
    type: string
    param: string | null
    code: string | null
    n_prompt_tokens?: number
    n_ctx?: number
  }
}

/**
 * Converts any error to a `Fault`. `url` is the request's URL: the endpoint determines the name of the parameter that
 * contains the prompt.
 */
export function toFault(error: unknown, url = ''): Fault {
  if (error instanceof Fault) return error
  if (isPromptError(error)) {
    const param = error.details.param ?? getPromptParam(error.code, url)
    const overflow = hasCode(error, 'context_length_exceeded') ? error.details.overflow : undefined
    return new Fault(error.code, error.message, { param, ...(overflow && { overflow }) })
  }
  const known = toFileFault(error)
  if (known) return known
  if (hasCode(error, 'model_lost')) return new Fault(error.code, error.message)
  if (hasCode(error, 'client_gone')) return new Fault(clientClosedRequest, error.message)
  const { validation, validationContext, statusCode = 500, message } = error as FastifyError
  if (validation) {
    const status = validationContext === 'body' ? 422 : 400
    return validationFault(status, validation, message)
  }
  return statusCode < 500
    ? new Fault(statusCode, message.charAt(0).toLowerCase() + message.slice(1))
    : new Fault(500, 'internal error in the daemon')
}

/** Converts an error about the files of a model. */
function toFileFault(error: unknown): Fault | undefined {
  if (hasCode(error, 'is_link')) return new Fault('model_linked', error.message)
  if (hasCode(error, 'file_busy')) return new Fault('model_busy', error.message)
  if (hasCode(error, 'no_room')) return new Fault('no_room', error.message)
  if (isErrno(error, 'ENOSPC', 'EDQUOT')) return new Fault('no_room', reasonOfErrno(error))
  if (!isErrno(error, ...diskErrors) || error.path === undefined) return undefined
  return new Fault('model_not_loaded', `${error.path} cannot be used: ${reasonOfErrno(error)}`)
}

/** Errors of a disk, or of its permissions, that the daemon's user can do something about. */
const diskErrors = [
  ...['EACCES', 'EHOSTDOWN', 'EIO', 'EMFILE', 'ENFILE', 'ENODEV', 'ENOTCONN', 'ENXIO'],
  ...['EPERM', 'EREMOTEIO', 'EROFS', 'ESTALE', 'ETIMEDOUT'],
]

/**
 * Converts an error that occurs after the response has begun. Logs an error with a status of 500 or higher, because the
 * error handler does not receive it.
 */
export function toStreamFault(error: unknown, { log, url }: FastifyRequest): Fault {
  const fault = toFault(error, url)
  if (fault.details.status >= 500) log.error({ err: error }, 'a stream failed')
  return fault
}

/**
 * For each path prefix, the name of the parameter that contains the prompt. The first match applies. Errors of
 * Anthropic's and Ollama's APIs do not contain these names.
 */
const promptParams: [path: string, prompt: string][] = [
  ['/v1/completions', 'prompt'],
  ['/v1/embeddings', 'input'],
  ['/v1/score', 'documents'],
  ['/v1/rerank', 'documents'],
  ['/v2/rerank', 'documents'],
  ['/rerank', 'documents'],
  ['/v1/responses', 'input'],
  ['', 'messages'],
]

/** Returns the name of the invalid parameter, which depends on the endpoint. */
function getPromptParam(code: PromptCode | 'context_length_exceeded', url: string): string {
  if (code === 'tool_refused') return 'tools'
  if (['not_generative', 'not_embedding', 'not_ranking'].includes(code)) return 'model'
  const [, prompt = ''] = promptParams.find(([path]) => url.startsWith(path)) ?? []
  return prompt
}

/**
 * An error body that has the members of both OpenAI's format and the registry's. If the prompt does not fit in the
 * context, it also has those of llama-server's format.
 */
export function toErrorBody({ message, details }: Fault): ErrorBody {
  const { status, param = null, reason: code, overflow } = details
  const type = status < 500 ? (errorTypes[status] ?? 'invalid_request_error') : 'server_error'
  if (!overflow) return { detail: message, error: { message, type, param, code } }
  const { promptTokens: n_prompt_tokens, contextLength: n_ctx } = overflow
  const words = openaiOverflow(overflow)
  const members = { type: 'exceed_context_size_error', n_prompt_tokens, n_ctx }
  return { detail: words, error: { message: words, param, code, ...members } }
}

/**
 * An error body that has the members of both Ollama's format and the registry's. In Ollama's format, `error` is a
 * string: Ollama clients print an object as `[object Object]`.
 */
export function toOllamaErrorBody({ message, details }: Fault): { error: string; detail: string } {
  const { reason: code, overflow } = details
  const words = overflow ? ollamaOverflow(overflow) : message
  return { error: words, detail: words, ...(code !== null && { code }) }
}

/**
 * An error body in the format of Anthropic's API (https://docs.anthropic.com/en/api/errors), with the registry's member
 * `detail` and OpenAI's member `code`.
 */
export function toAnthropicErrorBody({ message, details }: Fault) {
  const { status, reason: code, overflow } = details
  const type = anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const words = overflow ? anthropicOverflow(overflow) : message
  return { type: 'error', error: { type, message: words, ...(code && { code }) }, detail: words }
}

const anthropicTypes: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

const isAnthropicPath = (url: string) => /^\/v1\/messages(\/|\?|$)/.test(url)

const isOllamaPath = (url: string) => /^\/api(\/|\?|$)/.test(url)

const errorTypes: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** Each API has its own error format. */
function makeBody(url: string, fault: Fault): object {
  if (isOllamaPath(url)) return toOllamaErrorBody(fault)
  return isAnthropicPath(url) ? toAnthropicErrorBody(fault) : toErrorBody(fault)
}

export const handleError = errorHandler((error, { url }) => {
  const fault = toFault(error, url)
  const { status, retryAfterSeconds: retryAfter } = fault.details
  return {
    status,
    retryAfter,
    body: makeBody(url, fault),
  }
})

export function handleNotFound(request: FastifyRequest, reply: FastifyReply) {
  const what = `${request.method} ${withoutQuery(request.url)}`
  return handleError(new Fault(404, `no such endpoint: ${what}`), request, reply)
}
