import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

const quiet = new Set(['/healthz', '/metrics'])

/** One line for each answered request, without its words: what people ask is theirs. */
export const requestLog = fp(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { url } = request.routeOptions
    if (url !== undefined && quiet.has(url)) return
    const [path] = request.url.split('?', 1)
    const ms = Math.round(reply.elapsedTime * 10) / 10
    request.log.info({ method: request.method, path, status: reply.statusCode, ms }, 'request')
  })
})
