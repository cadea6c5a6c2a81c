import type { FastifyReply, FastifyRequest } from 'fastify'
import { discardBody } from './discard-body.ts'
import { breakOff } from './when-over.ts'

/** An error in the format of a server's API. */
export type ErrorAnswer = {
  status: number
  /** Sent as JSON. */
  body: object
  /** Seconds after which the same request may succeed. */
  retryAfter?: number | undefined
}

/**
 * Headers that describe the intended response. They must not be sent with an error: aria2, for example, would wait for
 * all bytes that `content-range` promises.
 */
const headersOfContent = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
]

/**
 * Returns the error handler of a server. `describe` converts an `Error` into a response. Errors with status 500 or
 * higher are logged in full. Error responses are marked as not cacheable. If the response has already begun, it is
 * aborted and the error is logged. If the client has disconnected, which is the usual cause of an error then, the error
 * is logged at level `debug`.
 */
export function errorHandler(describe: (error: Error, request: FastifyRequest) => ErrorAnswer) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = thrown instanceof Error ? thrown : new Error(`thrown: ${thrown}`)
    const level = request.raw.socket.destroyed ? 'debug' : 'error'
    if (reply.raw.headersSent) {
      request.log[level]({ err: error }, 'request failed')
      reply.hijack()
      breakOff(reply.raw)
      return reply
    }
    const { status, body, retryAfter } = describe(error, request)
    if (status >= 500) request.log[level]({ err: error }, 'request failed')
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    if (status === 408)
      reply.header('connection', 'close') // do not wait for the rest of the body
    else discardBody(request, reply)
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    for (const name of headersOfContent) reply.removeHeader(name)
    reply.header('cache-control', 'no-store')
    reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify)
    return reply.send(body)
  }
}
