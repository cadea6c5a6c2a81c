import etag from '@fastify/etag'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * Metadata is checked again at each use (`ETag`, 304), and what depends on the caller is kept by nobody but the caller.
 */
export const caching = fp(async (app: FastifyInstance) => {
  app.addHook('onSend', async (_request, reply) => {
    if (reply.hasHeader('cache-control')) return
    reply.header('cache-control', 'private, no-cache')
    reply.header(
      'vary',
      [reply.getHeader('vary'), 'Authorization, Cookie'].filter(Boolean).join(', '),
    )
  })
  await app.register(etag, { weak: false })
})
