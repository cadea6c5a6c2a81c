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

export type RateLimiter = ReturnType<typeof rateLimiter>

/**
 * Counts requests in the classes of the configuration, per credential or, for anonymous requests, per network. The
 * class `auth` is always counted per network: otherwise each API key would allow another 30 guesses of a password.
 */
export function rateLimiter(limits: RateLimits) {
  const counts = windowCounts(maxCallers)
  return {
    /** Counts a request. */
    count(limitClass: RateLimitClass, caller: string) {
      const { max, windowSeconds } = limits[limitClass]
      const { count, msLeft } = counts.add(`${limitClass} ${caller}`, windowSeconds * 1000)
      const resetSeconds = Math.ceil(msLeft / 1000)
      return { max, remaining: Math.max(0, max - count), resetSeconds, isExceeded: count > max }
    },
  }
}

/**
 * Every response of a route has the state in `RateLimit-*`; a request above the limit gets 429 with `Retry-After`.
 * Must be registered after the authentication.
 */
export const rateLimits = fp(
  async (app: FastifyInstance, { limiter }: { limiter: RateLimiter }) => {
    app.addHook('onRequest', (request, reply, done) => {
      const limitClass = getLimitClass(request.method, request.route)
      if (limitClass === 'none' || request.is404) return done()
      const caller = getCallerKey(request, limitClass)
      const { max, remaining, resetSeconds, isExceeded } = limiter.count(limitClass, caller)
      reply.header('ratelimit-limit', max)
      reply.header('ratelimit-remaining', remaining)
      reply.header('ratelimit-reset', resetSeconds)
      if (!isExceeded) return done()
      const retryAfterSeconds = Math.max(1, resetSeconds)
      done(
        busy(`too many requests: try again in ${retryAfterSeconds} s`, {
          code: 'rate_limited',
          retryAfterSeconds,
        }),
      )
    })
  },
)

export function getLimitClass(
  method: string,
  { config }: Pick<FastifyRequest['route'], 'config'>,
): RateLimitClass | 'none' {
  const isRead = method === 'GET' || method === 'HEAD'
  return config.rateLimitClass ?? (isRead ? 'read' : 'write')
}

function getCallerKey(request: FastifyRequest, limitClass: RateLimitClass): string {
  const { caller } = request
  if (caller === undefined || limitClass === 'auth') return clientNetwork(request)
  return caller.credential.id
}
