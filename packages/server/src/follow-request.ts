import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerMetrics } from './server-metrics.ts'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The request's `routeOptions`, stored because Fastify copies them on each access. `url` and `config` are missing
     * if the request's URL was invalid.
     */
    route: FastifyRequest['routeOptions']
  }
  interface FastifyContextConfig {
    /** Set for routes that are polled every few seconds. Their requests are logged only at level `debug`. */
    isQuiet?: boolean
  }
}

/**
 * Returns additional fields for a request's log line. Called after the response has ended. `request.query` is null if
 * the request's URL was invalid.
 */
export type LogFields = (request: FastifyRequest) => object

export type Followers = {
  log: FastifyBaseLogger
  requests: ServerMetrics['requests']
}

export type EndedRequest = {
  id: string
  method: string
  url: string
  /** `url` is undefined if no route matched. */
  route: Pick<FastifyRequest['routeOptions'], 'url' | 'config'>
  status: number
  ms: number
}

/**
 * Adds the request ID to the response. After the response has ended, logs one line and records how long the request
 * took. The query and any tokens are removed from the logged path.
 */
export function followRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { logFields, ...followers }: Followers & { logFields: LogFields },
) {
  const route = request.routeOptions
  request.route = route
  reply.header('x-request-id', request.id)
  whenOver(reply.raw, ({ status, ms }) => {
    const { id, method, url } = request
    reportRequest({ id, method, url, route, status, ms }, logFields(request), followers)
  })
}

/** Logs one line and records how long the request took. */
export function reportRequest(
  { id, method, url, route, status, ms }: EndedRequest,
  moreFields: object,
  { log, requests }: Followers,
) {
  const fields = {
    reqId: id,
    method,
    path: withoutTokens(withoutQuery(url), route.url),
    status,
    ms: Math.round(ms * 10) / 10,
    ...moreFields,
  }
  log[route.config?.isQuiet ? 'debug' : 'info'](fields, 'request')
  requests.observe({ method, route: route.url ?? 'none', status }, ms / 1000)
}

/** Removes the query, which may contain a signature. The URL must begin with its path. */
export function withoutQuery(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** If no route matched, path segments longer than this are redacted. Every token is longer, and no ID is. */
const maxPlainSegmentLength = 64

/** Redacts the route's `:token` segment. If no route matched, redacts every long segment. */
function withoutTokens(path: string, route: string | undefined): string {
  if (route === undefined ? path.length <= maxPlainSegmentLength : !route.includes(':token')) {
    return path
  }
  const places = route?.split('/')
  const isSecret = (segment: string, place: number) =>
    places ? places[place] === ':token' : segment.length > maxPlainSegmentLength
  return path
    .split('/')
    .map((segment, place) => (isSecret(segment, place) ? '***' : segment))
    .join('/')
}
