import { hasCode } from '@shoal/core/errors'
import { errorTable } from '@shoal/core/errors/table'
import type { Problem } from '@shoal/protocol'
import { errorHandler, withoutQuery } from '@shoal/server'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type DomainError, isDomainError, notFound, type ProblemDetails } from '../errors.ts'
import { describeUnavailable, isStorageFull, isUnavailable } from '../unavailable.ts'
import { messagesByFormat } from './validation.ts'

const retryAfterSeconds = 5

/** Gives all error responses the same format. */
export const handleError = errorHandler((error) => {
  const { problem, ...answer } = describe(error)
  return { ...answer, body: problem }
})

export function handleNotFound(request: FastifyRequest, reply: FastifyReply) {
  const what = `${request.method} ${withoutQuery(request.url)}`
  return handleError(notFound(`no such endpoint: ${what}`), request, reply)
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

  if (isStorageFull(error)) return describeFullDisk("the registry's disk is full")
  if (isUnavailable(error)) {
    const problem = { detail: describeUnavailable(error) }
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

/** A body that does not match its schema gets 422. An invalid value in the path, query or headers gets 400. */
function describeInvalid(error: FastifyError): Description {
  const errors = (error.validation ?? []).map(({ instancePath, params, message }) => {
    const missing = 'missingProperty' in params ? `/${params.missingProperty}` : ''
    const ofFormat = 'format' in params ? messagesByFormat[String(params.format)] : undefined
    return {
      path: instancePath + missing,
      message: missing ? 'is required' : (ofFormat ?? message ?? 'is invalid'),
    }
  })
  const [first] = errors
  const what = first?.path.slice(1).replaceAll('/', '.') || `the ${error.validationContext}`
  const detail = first ? `${what} ${first.message}` : error.message
  return { status: error.validationContext === 'body' ? 422 : 400, problem: { detail, errors } }
}

/**
 * Converts the first letter to lowercase. Fastify's messages begin with a capital letter, but the registry's do not.
 */
function plain(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
