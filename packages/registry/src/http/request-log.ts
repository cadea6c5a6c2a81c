import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { pathOf } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked every few seconds by machines: worth a line only at the level `debug`. */
    isQuiet?: boolean
  }
}

/** One line for each answered request, and the request's id on the answer. Tokens and signatures do not get into the log. */
export const requestLog = fp(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })

  app.addHook('onResponse', async (request, reply) => {
    const level = request.routeOptions.config.isQuiet ? 'debug' : 'info'
    request.log[level](
      {
        method: request.method,
        path: withoutTokens(pathOf(request.url), request.routeOptions.url),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        ...(request.caller && { user: request.caller.username }),
      },
      'request',
    )
  })
})

/** Longer than any id, and shorter than any token. */
const longestPlainSegment = 64

/** A token stands where the route has `:token`, and where there is no route, in whatever is long. */
function withoutTokens(path: string, route: string | undefined): string {
  const places = route?.split('/')
  const isSecret = (segment: string, place: number) =>
    places ? places[place] === ':token' : segment.length > longestPlainSegment
  return path
    .split('/')
    .map((segment, place) => (isSecret(segment, place) ? '***' : segment))
    .join('/')
}
