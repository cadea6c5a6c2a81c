import type { FastifyReply, FastifyRequest } from 'fastify'
import { breakOff } from './when-over.ts'

/** An error in the words of a server's API. */
export type ErrorAnswer = {
  status: number
  /** Sent as JSON. */
  body: object
  /** When the same call may succeed, in seconds. */
  retryAfter?: number | undefined
}

/** An error is not what the headers so far speak of: aria2 waits for as many bytes as its `content-range` says. */
const headersOfContent = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
]

/**
 * Makes what answers every error of a server. `describe` says how; it gets only `Error`s. Errors from 500 on are logged whole.
 * Answers to errors are not kept by caches. An answer that has begun is broken off.
 */
export function errorHandler(describe: (error: Error, request: FastifyRequest) => ErrorAnswer) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = thrown instanceof Error ? thrown : new Error(`thrown: ${thrown}`)
    if (reply.raw.headersSent) {
      request.log.error({ err: error }, 'request failed')
      reply.hijack()
      breakOff(reply.raw)
      return reply
    }
    const { status, body, retryAfter } = describe(error, request)
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    if (status === 408) reply.header('connection', 'close') // the rest of the body is not waited for
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    for (const name of headersOfContent) reply.removeHeader(name)
    reply.header('cache-control', 'no-store')
    reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify)
    return reply.send(body)
  }
}
