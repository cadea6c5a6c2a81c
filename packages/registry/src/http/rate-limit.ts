import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { RateLimitClass, RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import { clientNetwork } from './client-network.ts'
import { windowCounts } from './window-counts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `write` for methods that change something and `read` for the others, unless a route sets another class. `none`: never
     * limited.
     */
    rateLimitClass?: RateLimitClass | 'none'
  }
}

/** Number of keys across all classes; the least recently used is dropped first. */
const maxCallers = 20_000

/**
 * Counts requests in the classes of the configuration, per credential or, for anonymous requests, per network. The
 * class `auth` is always counted per network: otherwise each API key would allow another 30 guesses of a password.
 * Every response of a route has the state in `RateLimit-*`; a request above the limit gets 429 with `Retry-After`.
 * Must be registered after the authentication.
 */
export const rateLimits = fp(async (app: FastifyInstance, { limits }: { limits: RateLimits }) => {
  const counts = windowCounts(maxCallers)

  app.addHook('onRequest', (request, reply, done) => {
    const limitClass = getLimitClass(request)
    if (limitClass === 'none' || request.is404) return done()
    const { max, windowSeconds } = limits[limitClass]
    const key = `${limitClass} ${getCallerKey(request, limitClass)}`
    const { count, msLeft } = counts.add(key, windowSeconds * 1000)
    const seconds = Math.ceil(msLeft / 1000)
    reply.header('ratelimit-limit', max)
    reply.header('ratelimit-remaining', Math.max(0, max - count))
    reply.header('ratelimit-reset', seconds)
    if (count <= max) return done()
    const retryAfterSeconds = Math.max(1, seconds)
    done(
      busy(`too many requests: try again in ${retryAfterSeconds} s`, {
        code: 'rate_limited',
        retryAfterSeconds,
      }),
    )
  })
})

function getLimitClass({ method, route }: FastifyRequest): RateLimitClass | 'none' {
  const isRead = method === 'GET' || method === 'HEAD'
  return route.config.rateLimitClass ?? (isRead ? 'read' : 'write')
}

function getCallerKey(request: FastifyRequest, limitClass: RateLimitClass): string {
  const { caller } = request
  if (caller === undefined || limitClass === 'auth') return clientNetwork(request)
  return caller.credential.id
}
