import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../errors.ts'
import { PromptError, RuntimeGoneError } from '../runtime/runtime.ts'

export type ErrorBody = {
  detail: string
  error: { message: string; type: string; param: string | null; code: string | null }
}

/** Every error as a fault, which has a status. */
export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof PromptError) {
    const param = error.code === 'schema_refused' ? 'response_format' : 'messages'
    return new Fault(400, error.message, { code: error.code, param })
  }
  if (error instanceof RuntimeGoneError) {
    return new Fault(500, error.message, { code: 'model_lost' })
  }
  const { validation, statusCode = 500, message } = error as FastifyError
  if (validation) return invalid(validation[0], message)
  return statusCode < 500
    ? new Fault(statusCode, message.charAt(0).toLowerCase() + message.slice(1))
    : new Fault(500, 'internal error of the daemon')
}

/** In OpenAI's shape and in the registry's. */
export function bodyOf({ message, status, param, code }: Fault): ErrorBody {
  const type = status < 500 ? (typeOfStatus[status] ?? 'invalid_request_error') : 'server_error'
  return { detail: message, error: { message, type, param, code } }
}

const typeOfStatus: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const fault = faultOf(error)
  if (fault.status >= 500) request.log.error({ err: error }, 'request failed')
  if (fault.status === 401) reply.header('www-authenticate', 'Bearer')
  if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', fault.retryAfterSeconds)
  reply.code(fault.status).type('application/json; charset=utf-8').serializer(JSON.stringify)
  return reply.send(bodyOf(fault))
}

export function handleNotFound(request: FastifyRequest, reply: FastifyReply) {
  const [path] = request.url.split('?', 1)
  return handleError(new Fault(404, `nothing is at ${request.method} ${path}`), request, reply)
}

type Validation = NonNullable<FastifyError['validation']>[number]

function invalid(first: Validation | undefined, message: string): Fault {
  const missing = first?.params.missingProperty
  const path = `${first?.instancePath ?? ''}${missing ? `/${missing}` : ''}`
  const param = path.slice(1).replaceAll('/', '.') || null
  const what = missing ? 'is required' : (first?.message ?? message)
  return new Fault(422, `${param ?? 'the body'} ${what}`, { param })
}
