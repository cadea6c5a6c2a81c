import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { RateLimitClass, RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import { clientNetwork } from './client-network.ts'
import { windowCounts } from './window-counts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `write` for methods that change something and `read` for the others, unless a route sets another class. */
    rateLimitClass?: RateLimitClass
  }
}

/** Number of keys across all classes; the least recently used is dropped first. */
const maxCallers = 20_000

/**
 * Counts requests in the classes of the configuration, per credential or, for anonymous requests, per network. The
 * class `auth` is always counted per network: otherwise each API key would allow another 30 guesses of a password.
 * Every response has the state in `RateLimit-*`; a request above the limit gets 429 with `Retry-After`. Must be
 * registered after the authentication.
 */
export const rateLimits = fp(async (app: FastifyInstance, { limits }: { limits: RateLimits }) => {
  await app.register(rateLimit, {
    global: true,
    store: MonotonicStore,
    keyGenerator: (request) => `${getLimitClass(request)} ${getCallerKey(request)}`,
    max: (request) => limits[getLimitClass(request)].max,
    timeWindow: (request) => limits[getLimitClass(request)].windowSeconds * 1000,
    enableDraftSpec: true,
    errorResponseBuilder: (_request, { ttl }) => {
      const seconds = Math.max(1, Math.ceil(ttl / 1000))
      return busy(`too many requests: try again in ${seconds} s`, {
        code: 'rate_limited',
        retryAfterSeconds: seconds,
      })
    },
  })
})

/**
 * The plugin's own store uses the system's clock: if that were set back by an hour, callers would be refused for an
 * hour.
 */
class MonotonicStore implements FastifyRateLimitStore {
  readonly counts = windowCounts(maxCallers)

  incr(
    key: string,
    done: (error: Error | null, result?: { current: number; ttl: number }) => void,
    timeWindow: number,
  ) {
    const { count, msLeft } = this.counts.add(key, timeWindow)
    done(null, { current: count, ttl: msLeft })
  }

  child() {
    return new MonotonicStore()
  }
}

function getLimitClass({ method, routeOptions }: FastifyRequest): RateLimitClass {
  const isRead = method === 'GET' || method === 'HEAD'
  return routeOptions.config.rateLimitClass ?? (isRead ? 'read' : 'write')
}

function getCallerKey(request: FastifyRequest): string {
  const { caller } = request
  if (caller === undefined || getLimitClass(request) === 'auth') return clientNetwork(request)
  return caller.credential.id
}
