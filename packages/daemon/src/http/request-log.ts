import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { whenOver } from './when-over.ts'

const quiet = new Set(['/healthz', '/metrics'])

/** One line for each answered request, without its words: what people ask is theirs. */
export const requestLog = fp(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const { url } = request.routeOptions
    if (url !== undefined && quiet.has(url)) return
    const { method } = request
    const [path] = request.url.split('?', 1)
    whenOver(reply, ({ status, ms }) => {
      request.log.info({ method, path, status, ms: Math.round(ms * 10) / 10 }, 'request')
    })
  })
})
