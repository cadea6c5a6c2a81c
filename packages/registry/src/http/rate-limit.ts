import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { RateLimitClass, RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import { networkOf, plainAddress } from './ip-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `write` for methods that change something and `read` for the others, unless a route says so. */
    rateLimitClass?: RateLimitClass
  }
}

/** Keys that are remembered in each class; the least recently seen is forgotten first. */
const callersRemembered = 20_000

/**
 * Counts calls per credential, else per address, in the classes of the configuration. Every answer tells the state in
 * `RateLimit-*`; a call too many gets 429 with `Retry-After`. Must come after the authentication.
 */
export const rateLimits = fp(async (app: FastifyInstance, { limits }: { limits: RateLimits }) => {
  await app.register(rateLimit, {
    global: true,
    cache: callersRemembered,
    keyGenerator: (request) => `${classOf(request)} ${callerOf(request)}`,
    max: (request) => limits[classOf(request)].max,
    timeWindow: (request) => limits[classOf(request)].windowSeconds * 1000,
    enableDraftSpec: true,
    errorResponseBuilder: (_request, { ttl }) => {
      const seconds = Math.max(1, Math.ceil(ttl / 1000))
      return busy(`too many calls: try again in ${seconds} s`, {
        code: 'rate_limited',
        retryAfterSeconds: seconds,
      })
    },
  })
})

function classOf({ method, routeOptions }: FastifyRequest): RateLimitClass {
  const isRead = method === 'GET' || method === 'HEAD'
  return routeOptions.config.rateLimitClass ?? (isRead ? 'read' : 'write')
}

/** A credential counts by itself; strangers, and tokens that are none, by their address (an IPv6 network as one). */
function callerOf({ caller, ip }: FastifyRequest): string {
  if (caller) return caller.credential.id
  const address = plainAddress(ip) // a proxy may say what is none
  return address ? networkOf(address) : ip
}
