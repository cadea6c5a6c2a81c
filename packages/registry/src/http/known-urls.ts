import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { readRequestId, reportRequest, type ServerMetrics, whenOver } from '@shoal/server'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { RateLimitClass } from '../config.ts'
import { findForwardedAddress, type TrustProxy } from '../settings/trusted-proxies.ts'
import { clientNetwork } from './client-network.ts'
import { isKnown } from './if-none-match.ts'
import { getLimitClass, type RateLimiter, type RateState } from './rate-limit.ts'
import type { ResponseCache } from './response-cache.ts'
import type { Site } from './site.ts'

type Dependencies = {
  caches: readonly ResponseCache[]
  site: Pick<Site, 'isOurHost'>
  limiter: RateLimiter | undefined
  trustProxy: TrustProxy | false
  log: FastifyBaseLogger
  metrics: Pick<ServerMetrics, 'requests'>
}

/**
 * Answers anonymous GET requests from the caches before they reach Fastify, because Fastify and the registry's hooks
 * would double the time per request. The steps that every request must go through are therefore repeated here: the
 * hostname check, the rate limit, the request ID, the log and the metrics. All other requests, and those that must be
 * refused, are passed to Fastify.
 */
export function answerKnownUrls(app: FastifyInstance, dependencies: Dependencies) {
  const { server } = app
  const [handle] = server.listeners('request') as RequestListener[] // the first listener is Fastify's
  if (!handle) throw new Error('the server has no request handler')
  /** The errors with which requests must be refused even though responses to them are cached. */
  const refusals = new WeakMap<IncomingMessage, Error>()
  app.addHook('onRequest', (request, _reply, done) => done(refusals.get(request.raw)))
  const answering: Answering = {
    ...dependencies,
    isClosing: () => !server.listening,
    refuse(request, response, error) {
      refusals.set(request, error)
      handle(request, response)
    },
  }
  server.off('request', handle)
  server.prependListener('request', (request, response) => {
    // A server that is shutting down no longer listens. Its requests are passed to Fastify, which closes the
    // connections.
    const known = server.listening && findKnown(request, dependencies)
    if (!known) return handle(request, response)
    const proceed = (limit: RateState | undefined) =>
      limit?.isExceeded
        ? handle(request, response)
        : answer(request, response, { ...known, limit }, answering)
    const limit = dependencies.limiter?.count(known.limitClass, clientNetwork(known))
    if (limit instanceof Promise) limit.then(proceed, () => handle(request, response))
    else proceed(limit)
  })
}

type Known = NonNullable<ReturnType<ResponseCache['findByUrl']>> & {
  ip: string
  limitClass: RateLimitClass
}

/** A request that has been counted toward its rate limit, if a limit applies to it. */
type Counted = Known & { limit: RateState | undefined }

/** Finds the cached response; undefined if there is none, or if Fastify must process the request. */
function findKnown(
  request: IncomingMessage,
  { caches, site, trustProxy }: Dependencies,
): Known | undefined {
  const { method, url = '', headers } = request
  if (method !== 'GET' || headers.authorization !== undefined || headers.cookie !== undefined) {
    return undefined
  }
  const found = findByUrl(caches, url, headers['accept-encoding'])
  if (!found || !site.isOurHost(headers.host)) return undefined
  const ip = findClientAddress(request, trustProxy)
  const limitClass = getLimitClass(method, found.entry.route)
  if (ip === undefined || limitClass === 'none') return undefined
  return { ...found, ip, limitClass }
}

type Answering = Pick<Dependencies, 'log' | 'metrics'> & {
  isClosing: () => boolean
  /** Refuses the request with this error instead of sending the cached response. */
  refuse(request: IncomingMessage, response: ServerResponse, error: Error): void
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  known: Counted,
  { log, metrics: { requests }, isClosing, refuse }: Answering,
) {
  const { entry, ip } = known
  const { method = '', url = '' } = request
  const id = readRequestId(request)
  let isRefused = false
  whenOver(response, ({ status, ms }) => {
    if (isRefused) return // reported by Fastify
    reportRequest({ id, method, url, route: entry.route, status, ms }, { ip }, { log, requests })
  })
  if (!entry.beforeCached) return send(request, response, known, id)
  entry.beforeCached().then(
    () => {
      if (isClosing()) response.shouldKeepAlive = false
      send(request, response, known, id)
    },
    (error) => {
      isRefused = true
      refuse(request, response, error)
    },
  )
}

function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { entry, representation, limit }: Counted,
  id: string,
) {
  const { etag } = representation
  const isUnchanged = etag !== undefined && isKnown(etag, headers['if-none-match'])
  const answerHeaders = [
    ...(isUnchanged ? representation.headersWithoutPayload : representation.headers),
    'x-request-id',
    id,
  ]
  if (limit) {
    const { max, remaining, resetSeconds } = limit
    answerHeaders.push('ratelimit-limit', max)
    answerHeaders.push('ratelimit-remaining', remaining, 'ratelimit-reset', resetSeconds)
  }
  if (isUnchanged) response.writeHead(304, answerHeaders).end()
  else response.writeHead(entry.status, answerHeaders).end(representation.payload)
}

function findByUrl(caches: readonly ResponseCache[], url: string, acceptEncoding?: string) {
  for (const cache of caches) {
    const found = cache.findByUrl(url, acceptEncoding)
    if (found) return found
  }
  return undefined
}

/**
 * Returns the client address that Fastify would determine. Undefined if the proxy reports an empty address, or if
 * Fastify may have to log a warning about the proxy.
 */
function findClientAddress(
  { headers, socket }: IncomingMessage,
  trustProxy: TrustProxy | false,
): string | undefined {
  const forwarded = headers['x-forwarded-for']
  if (forwarded === undefined) return socket.remoteAddress
  if (!trustProxy || socket.remoteAddress === undefined) return undefined
  return findForwardedAddress(trustProxy, socket.remoteAddress, String(forwarded))
}
