import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isKnown } from './if-none-match.ts'

/**
 * Metadata is checked again at each use (`ETag`, 304), and what depends on the caller is kept by nobody but the caller.
 */
export const caching = fp(async (app: FastifyInstance) => {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'private, no-cache')
      const vary = [reply.getHeader('vary'), 'Authorization, Cookie']
      reply.header('vary', vary.filter(Boolean).join(', '))
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || reply.statusCode !== 200) return payload
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const etag = reply.getHeader('etag') ?? computeEtag(payload) // a kept answer has one
    reply.header('etag', etag)
    if (!isKnown(String(etag), request.headers['if-none-match'])) return payload
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return request.method === 'HEAD' ? payload : null // Fastify takes the body of a HEAD away itself
  })
})

const computeEtag = (payload: string | Buffer) =>
  `"${createHash('sha1').update(payload).digest('base64')}"`
