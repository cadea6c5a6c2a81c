import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '@shoal/core/addresses'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { DaemonConfig } from '../config.ts'
import { Fault } from '../errors.ts'
import { allowOrigin, answerPreflight, isPreflight } from './cross-origin.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route requires no key. Such routes reveal nothing about models and change nothing. */
    isOpen?: boolean
  }
}

/**
 * Decides which requests are accepted. If no key is configured, a request may have no key or any nonempty key. On
 * loopback addresses, the checks of `Host` (against DNS rebinding) and `Origin` prevent foreign web pages from using
 * the daemon. On other addresses, the daemon requires its own key unless `--any-key` is set.
 */
export const guard = fp(async (app: FastifyInstance, config: DaemonConfig) => {
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin, authorization, 'x-api-key': apiKey } = request.headers
    reply.header('vary', 'Origin')
    if (isLoopback(config.host) && !isNameOfThisMachine(host)) {
      throw new Fault('unknown_host', 'requests for this hostname are not accepted: use localhost')
    }
    if (origin !== undefined && !isAllowedOrigin(origin, host)) {
      throw new Fault(
        'unknown_origin',
        `${origin} is not allowed: to allow it, add it to SHOAL_ORIGINS`,
      )
    }
    if (origin !== undefined) allowOrigin(reply, origin)
    if (isPreflight(request)) return answerPreflight(request, reply) // browsers send these without a key
    if (request.routeOptions.config.isOpen) return
    if ((request.raw.headersDistinct.authorization ?? []).length > 1) {
      throw new Fault('invalid_api_key', 'Authorization must be sent only once') // Node would use only the first
    }
    checkKey(authorization, apiKey)
  })

  function isAllowedOrigin(origin: string, host: string | undefined): boolean {
    if (config.origins.includes(origin)) return true
    return origin === `http://${host}` || origin === `https://${host}`
  }

  /** Clients of OpenAI's API send `Authorization`, and clients of Anthropic's API `x-api-key`. */
  function checkKey(authorization: string | undefined, apiKey: string | string[] | undefined) {
    if (apiKey === undefined) return checkBearer(authorization)
    const key = String(apiKey)
    if (key.trim() === '') throw emptyKey()
    // Node joins repeated `x-api-key` headers with ", ".
    if (/\s/.test(key)) throw new Fault('invalid_api_key', 'x-api-key must be a single API key')
    if (authorization !== undefined && !isSame(readBearer(authorization), key)) {
      throw new Fault('invalid_api_key', 'Authorization and x-api-key contain different API keys')
    }
    if (config.apiKey === undefined || isSame(key, config.apiKey)) return
    throw new Fault('invalid_api_key', 'this API key is wrong')
  }

  function checkBearer(authorization: string | undefined) {
    if (authorization === undefined && config.apiKey === undefined) return
    const key = readBearer(authorization)
    if (config.apiKey === undefined ? key !== '' : isSame(key, config.apiKey)) return
    if (authorization !== undefined && /^(Bearer)?\s*$/i.test(authorization)) throw emptyKey()
    throw new Fault('invalid_api_key', whyNot(authorization, key))
  }

  /** Some clients send a header without a key if none is set. */
  function emptyKey(): Fault {
    const which = config.apiKey === undefined ? 'any key, such as "any",' : "this daemon's API key"
    return new Fault('invalid_api_key', `the API key is empty: set ${which} in the client`)
  }
})

/** The API key of a request that the guard has accepted; the empty string if it has none. */
export const readKey = ({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string =>
  apiKey === undefined ? readBearer(authorization) : String(apiKey)

const readBearer = (authorization = ''): string =>
  /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1] ?? ''

function whyNot(authorization: string | undefined, key: string): string {
  if (authorization === undefined) return 'this daemon requires its API key'
  return key === '' ? 'Authorization must be "Bearer <API key>"' : 'this API key is wrong'
}

function isNameOfThisMachine(host: string | undefined): boolean {
  return (
    host !== undefined &&
    URL.canParse(`http://${host}`) &&
    isLoopback(new URL(`http://${host}`).hostname)
  )
}

/** Constant-time comparison. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
