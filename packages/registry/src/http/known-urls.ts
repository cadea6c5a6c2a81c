import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { readRequestId, reportRequest, type ServerMetrics, whenOver } from '@shoal/server'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { clientNetwork } from './client-network.ts'
import { isKnown } from './if-none-match.ts'
import { getLimitClass, type RateLimiter } from './rate-limit.ts'
import type { ResponseCache } from './response-cache.ts'
import type { Site } from './site.ts'

type Dependencies = {
  caches: readonly ResponseCache[]
  site: Pick<Site, 'isOurHost'>
  limiter: RateLimiter | undefined
  trustProxy: boolean
  log: FastifyBaseLogger
  metrics: Pick<ServerMetrics, 'requests'>
}

/**
 * Answers anonymous GET requests for cached responses before Fastify sees them: its own work and our hooks take as long
 * as everything else together. Whatever each request must pass is therefore here too: the check of the host, the rate
 * limit, the request ID, the log and the metrics. All other requests are left to Fastify, and so are those to refuse.
 */
export function answerKnownUrls(app: FastifyInstance, dependencies: Dependencies) {
  const { server } = app
  const [handle] = server.listeners('request') as RequestListener[] // Fastify adds it first
  if (!handle) throw new Error('the server has no request handler')
  /** Errors of requests that turned out to be refused. */
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
    // A server that shuts down no longer listens; Fastify then closes connections.
    const known = server.listening && findKnown(request, dependencies)
    if (known) answer(request, response, known, answering)
    else handle(request, response)
  })
}

type Known = {
  found: NonNullable<ReturnType<ResponseCache['findByUrl']>>
  ip: string
  limit: ReturnType<RateLimiter['count']> | undefined
}

/** The cached response, if the request may have it. */
function findKnown(
  request: IncomingMessage,
  { caches, site, limiter, trustProxy }: Dependencies,
): Known | undefined {
  const { method, url = '', headers } = request
  if (method !== 'GET' || headers.authorization !== undefined || headers.cookie !== undefined) {
    return undefined
  }
  const found = findByUrl(caches, url)
  if (!found || !site.isOurHost(headers.host)) return undefined
  const ip = findClientAddress(request, trustProxy)
  const limitClass = getLimitClass(method, found.route)
  if (ip === undefined || limitClass === 'none') return undefined
  const limit = limiter?.count(limitClass, clientNetwork({ ip }))
  return limit?.isExceeded ? undefined : { found, ip, limit }
}

type Answering = Pick<Dependencies, 'log' | 'metrics'> & {
  isClosing: () => boolean
  /** Called instead of sending the response if it must not be sent. */
  refuse(request: IncomingMessage, response: ServerResponse, error: Error): void
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  known: Known,
  { log, metrics: { requests }, isClosing, refuse }: Answering,
) {
  const { found, ip } = known
  const { method = '', url = '' } = request
  const id = readRequestId(request)
  let isRefused = false
  whenOver(response, ({ status, ms }) => {
    if (isRefused) return // reported by Fastify
    reportRequest({ id, method, url, route: found.route, status, ms }, { ip }, { log, requests })
  })
  if (!found.beforeCached) return send(request, response, known, id)
  found.beforeCached().then(
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
  { found, limit }: Known,
  id: string,
) {
  const { etag } = found
  const isUnchanged = etag !== undefined && isKnown(etag, headers['if-none-match'])
  const answerHeaders = [
    ...(isUnchanged ? found.headersWithoutPayload : found.headers),
    'x-request-id',
    id,
  ]
  if (limit) {
    const { max, remaining, resetSeconds } = limit
    answerHeaders.push('ratelimit-limit', max)
    answerHeaders.push('ratelimit-remaining', remaining, 'ratelimit-reset', resetSeconds)
  }
  if (isUnchanged) response.writeHead(304, answerHeaders).end()
  else response.writeHead(found.status, answerHeaders).end(found.payload)
}

function findByUrl(caches: readonly ResponseCache[], url: string) {
  for (const cache of caches) {
    const found = cache.findByUrl(url)
    if (found) return found
  }
  return undefined
}

/** As Fastify finds it; undefined for an empty name, or if a warning about the proxy may be due. */
function findClientAddress(
  { headers, socket }: IncomingMessage,
  trustProxy: boolean,
): string | undefined {
  const forwarded = headers['x-forwarded-for']
  if (forwarded === undefined) return socket.remoteAddress
  if (!trustProxy) return undefined
  return String(forwarded).split(',').at(-1)?.trim() || undefined
}
