import type { FastifyBaseLogger } from 'fastify'
import type { ServerMetrics } from './server-metrics.ts'
import type { Step, StepRequest } from './steps.ts'
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
export type LogFields<Request> = (request: Request) => object

export type Followers<Request extends StepRequest> = {
  log: FastifyBaseLogger
  logFields: LogFields<Request>
  requests: ServerMetrics['requests']
}

/**
 * Returns a step that adds the request ID to the response. After the response has ended, logs one line and records how long the request
 * took. The query and any tokens are removed from the logged path.
 */
export function followRequest<Request extends StepRequest>({
  log,
  logFields,
  requests,
}: Followers<Request>): Step<Request> {
  return (request, reply) => {
    const { id, route } = request
    reply.header('x-request-id', id)
    whenOver(reply.raw, ({ status, ms }) => {
      const { method, url } = request
      const fields = {
        reqId: id,
        method,
        path: withoutTokens(withoutQuery(url), route.url),
        status,
        ms: Math.round(ms * 10) / 10,
        ...logFields(request),
      }
      log[route.config?.isQuiet ? 'debug' : 'info'](fields, 'request')
      requests.observe({ method, route: route.url ?? 'none', status }, ms / 1000)
    })
    return undefined
  }
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
