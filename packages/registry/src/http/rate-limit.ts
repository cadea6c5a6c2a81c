import type { Clock } from '@shoal/core/async'
import { type WindowCount, windowCounts } from '@shoal/core/limits'
import type { Step, StepReply, StepRequest } from '@shoal/server'
import type { FastifyRequest } from 'fastify'
import type { RateLimitClass, RateLimits } from '../config.ts'
import { busy } from '../errors.ts'
import { delayedCounts } from '../redis/delayed-counts.ts'
import type { SharedState } from '../redis/open-redis.ts'
import { addShared } from '../redis/shared-counts.ts'
import { clientNetwork } from './client-network.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The class whose rate limit applies to the route. Default: `write` for methods that change something, and `read`
     * for others. Routes with `none` are not limited.
     */
    rateLimitClass?: RateLimitClass | 'none'
  }
}

/** Maximum number of counts across all classes. The least recently used count is dropped first. */
const maxCallers = 20_000

/**
 * The highest limit that is enforced exactly across nodes. In classes with a higher limit, a request does not wait for
 * the counts of other nodes; it uses counts that may be up to 0.1 s old.
 */
const maxExactLimit = 1_000

/** How much of a class's rate limit a caller has left. */
export type RateState = {
  max: number
  remaining: number
  resetSeconds: number
  isExceeded: boolean
}

export interface RateLimiter {
  /** Counts a request. Returns a promise if the request must first be added to the count that all nodes share. */
  count(limitClass: RateLimitClass, caller: string): RateState | Promise<RateState>
}

/**
 * Counts requests per class and credential or, for anonymous requests, per class and network. The class `auth` is
 * always counted per network: otherwise each API key would allow another 30 password guesses. With `shared`, the limits
 * apply to all nodes together: a request is added to the shared count before the response if the limit is at most
 * 1,000, and shortly after the response if the limit is larger. Each node also counts its own requests, so that it can
 * enforce the limits while Redis does not respond.
 */
export function rateLimiter(
  limits: RateLimits,
  { clock, shared }: { clock: Clock; shared: SharedState | undefined },
): RateLimiter {
  const counts = windowCounts(maxCallers, clock)
  const delayed = shared && delayedCounts(shared, maxCallers)

  function toState(limitClass: RateLimitClass, { count, msLeft }: WindowCount): RateState {
    const { max } = limits[limitClass]
    const resetSeconds = Math.ceil(msLeft / 1000)
    return { max, remaining: Math.max(0, max - count), resetSeconds, isExceeded: count > max }
  }

  return {
    count(limitClass, caller) {
      const key = `${limitClass} ${caller}`
      const { max, windowSeconds } = limits[limitClass]
      const windowMs = windowSeconds * 1000
      if (delayed && max > maxExactLimit) return toState(limitClass, delayed.add(key, windowMs))
      const own = toState(limitClass, counts.add(key, windowMs))
      if (!shared || own.isExceeded) return own
      return shared.use(
        async () => toState(limitClass, await addShared(shared, key, windowMs)),
        () => own,
      )
    },
  }
}

type LimitedRequest = StepRequest & Pick<FastifyRequest, 'caller' | 'is404'>

/**
 * Adds `RateLimit-*` headers to every response of a route with a limit. A request above the limit gets 429 with
 * `Retry-After`. Must come after `authentication`.
 */
export const rateLimit =
  (limiter: RateLimiter): Step<LimitedRequest> =>
  (request, reply) => {
    const limitClass = getLimitClass(request)
    if (limitClass === 'none' || request.is404) return undefined
    const state = limiter.count(limitClass, getCallerKey(request, limitClass))
    return state instanceof Promise
      ? state.then((found) => apply(reply, found))
      : apply(reply, state)
  }

/** Sets the `RateLimit-*` headers. Returns an error if the request is above the limit. */
function apply(reply: StepReply, { max, remaining, resetSeconds, isExceeded }: RateState) {
  reply.header('ratelimit-limit', max)
  reply.header('ratelimit-remaining', remaining)
  reply.header('ratelimit-reset', resetSeconds)
  if (!isExceeded) return undefined
  const retryAfterSeconds = Math.max(1, resetSeconds)
  return busy(`too many requests: try again in ${retryAfterSeconds} s`, {
    code: 'rate_limited',
    retryAfterSeconds,
  })
}

function getLimitClass({ method, route }: StepRequest): RateLimitClass | 'none' {
  const isRead = method === 'GET' || method === 'HEAD'
  return route.config.rateLimitClass ?? (isRead ? 'read' : 'write')
}

function getCallerKey(request: LimitedRequest, limitClass: RateLimitClass): string {
  const { caller } = request
  if (caller === undefined || limitClass === 'auth') return clientNetwork(request)
  return caller.credential.id
}
