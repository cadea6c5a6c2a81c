import { hasCode } from '@shoal/core/errors'
import { errorTable } from '@shoal/core/errors/table'
import type { Problem } from '@shoal/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type DomainError, isDomainError, type ProblemDetails } from '../errors.ts'
import { isStorageFull, isUnavailable } from '../unavailable.ts'
import { messageOfFormat } from './validation.ts'

const retryAfterSeconds = 5

/** An error is not what the headers so far speak of: aria2 waits for as many bytes as its `content-range` says. */
const headersOfContent = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
]

/** Every error of every path leaves here, in one shape. */
export function handleError(
  error: FastifyError | DomainError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { status, problem, retryAfter } = describe(error)
  if (status >= 500) request.log.error({ err: error }, 'request failed')
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (status === 408) reply.header('connection', 'close') // the rest of the body is not waited for
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  for (const name of headersOfContent) reply.removeHeader(name)
  reply.header('cache-control', 'no-store')
  reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify)
  return reply.send(problem)
}

export function handleNotFound(request: FastifyRequest, reply: FastifyReply) {
  const problem: Problem = { detail: `nothing is at ${request.method} ${pathOf(request.url)}` }
  reply.code(404).type('application/json; charset=utf-8').serializer(JSON.stringify)
  return reply.send(problem)
}

type Description = { status: number; problem: Problem; retryAfter?: number }

function describe(error: FastifyError | DomainError | Error): Description {
  if (hasCode(error, 'storage_full')) return describeFullDisk(error.message)
  if (isDomainError(error)) {
    const { retryAfterSeconds: retryAfter, ...members } = error.details as ProblemDetails
    const described = {
      status: errorTable[error.code].status ?? 500,
      problem: { detail: error.message, ...members },
    }
    return retryAfter === undefined ? described : { ...described, retryAfter }
  }
  if ('validation' in error && error.validation) return describeInvalid(error)

  if (isStorageFull(error)) return describeFullDisk('the disk of this registry is full')
  if (isUnavailable(error)) {
    const problem = { detail: 'the database or the store of this registry cannot be reached' }
    return { status: 503, problem, retryAfter: retryAfterSeconds }
  }
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500
  if (status >= 500) return { status, problem: { detail: 'internal server error' } }
  return { status, problem: { detail: plain(error.message) } }
}

const describeFullDisk = (detail: string): Description => ({
  status: errorTable.storage_full.status ?? 503,
  problem: { detail, code: 'storage_full' },
  retryAfter: 60,
})

/** A body that misses its schema is 422; a bad path, query or header value is 400. */
function describeInvalid(error: FastifyError): Description {
  const errors = (error.validation ?? []).map(({ instancePath, params, message }) => {
    const missing = 'missingProperty' in params ? `/${params.missingProperty}` : ''
    const ofFormat = 'format' in params ? messageOfFormat[String(params.format)] : undefined
    return {
      path: instancePath + missing,
      message: missing ? 'is required' : (ofFormat ?? message ?? 'is wrong'),
    }
  })
  const [first] = errors
  const what = first?.path.slice(1).replaceAll('/', '.') || `the ${error.validationContext}`
  const detail = first ? `${what} ${first.message}` : error.message
  return { status: error.validationContext === 'body' ? 422 : 400, problem: { detail, errors } }
}

/** The framework's own sentences begin with a capital; ours do not. */
function plain(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}

/** Without the query, which may hold a signature. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
