import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerMetrics } from './server-metrics.ts'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** `routeOptions`, of which Fastify makes a copy for each reader. Has no `url` or `config` if the URL was invalid. */
    route: FastifyRequest['routeOptions']
  }
  interface FastifyContextConfig {
    /** For routes polled every few seconds: logged only at level `debug`. */
    isQuiet?: boolean
  }
}

/** Additional fields for a request's log line. Called when the response is over; `query` is null if the URL was invalid. */
export type LogFields = (request: FastifyRequest) => object

export type Followers = {
  log: FastifyBaseLogger
  requests: ServerMetrics['requests']
}

export type EndedRequest = {
  id: string
  method: string
  url: string
  /** Its `url` is undefined if no route was found. */
  route: Pick<FastifyRequest['routeOptions'], 'url' | 'config'>
  status: number
  ms: number
}

/**
 * Adds the request ID to the response. When the response is over, logs one line and observes how long it took. Never logs
 * queries, bodies or tokens.
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

/** Logs one line and observes how long the request took. */
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

/** The path of a URL that begins with a path. The query may contain a signature. */
export function withoutQuery(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Longer than any ID and shorter than any token. */
const maxPlainSegmentLength = 64

/** Redacts the `:token` segment of the route. For an unknown route, redacts every long segment. */
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
