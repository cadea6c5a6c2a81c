import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isKnown } from './if-none-match.ts'

/**
 * Adds caching headers. Unless a route sets `Cache-Control` itself, a response may be cached only by the caller and
 * must be revalidated before each use (`ETag`, 304).
 */
export const caching = fp(async (app: FastifyInstance) => {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'private, no-cache')
      const vary = [reply.getHeader('vary'), 'Authorization, Cookie']
      reply.header('vary', vary.filter(Boolean).join(', '))
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || reply.statusCode !== 200) return done()
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done()
    if (!reply.hasHeader('etag')) reply.header('etag', computeEtag(payload))
    done()
  })
  // A route's own hooks run last, so the response cache can keep the complete response.
  app.addHook('onRoute', (route) => {
    route.onSend = [route.onSend ?? [], omitKnownBody].flat()
  })
})

type OnSendDone = (error: Error | null, payload: unknown) => void

/** Converts a response that the client already has to a 304. */
function omitKnownBody(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: OnSendDone,
) {
  const etag = reply.getHeader('etag')
  const isRead = method === 'GET' || method === 'HEAD'
  const isWhole = isRead && reply.statusCode === 200 && etag !== undefined
  if (!isWhole || !isKnown(String(etag), headers['if-none-match'])) return done(null, payload)
  reply.code(304).removeHeader('content-length').removeHeader('content-type')
  done(null, method === 'HEAD' ? payload : null) // Fastify removes the body of a HEAD response itself
}

const computeEtag = (payload: string | Buffer) =>
  `"${createHash('sha1').update(payload).digest('base64')}"`
