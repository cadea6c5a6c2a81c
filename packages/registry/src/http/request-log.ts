import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { pathOf } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked every few seconds by machines: not worth a line in the log. */
    isQuiet?: boolean
  }
}

/** One line for each answered request, and the request's id on the answer. Tokens and signatures do not get into the log. */
export const requestLog = fp(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })

  app.addHook('onResponse', async (request, reply) => {
    if (request.routeOptions.config.isQuiet) return
    const { token } = (request.params ?? {}) as { token?: string }
    const path = pathOf(request.url)
    request.log.info(
      {
        method: request.method,
        path: token ? path.replace(encodeURIComponent(token), '***').replace(token, '***') : path,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        ...(request.caller && { user: request.caller.username }),
      },
      'request',
    )
  })
})
