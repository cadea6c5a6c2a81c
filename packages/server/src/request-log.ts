import type { FastifyReply, FastifyRequest } from 'fastify'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For routes polled every few seconds: logged only at level `debug`. */
    isQuiet?: boolean
  }
}

/** Additional fields for a request's log line. Called when the response is over; `query` is null if the URL was invalid. */
export type LogFields = (request: FastifyRequest) => object

/** Adds the request ID to the response, and logs one line when the response is over. Never logs queries, bodies or tokens. */
export function logRequest(request: FastifyRequest, reply: FastifyReply, logFields: LogFields) {
  reply.header('x-request-id', request.id)
  const { method, url, routeOptions } = request
  whenOver(reply, ({ status, ms }) => {
    const fields = {
      method,
      path: withoutTokens(withoutQuery(url), routeOptions.url),
      status,
      ms: Math.round(ms * 10) / 10,
      ...logFields(request),
    }
    request.log[routeOptions.config?.isQuiet ? 'debug' : 'info'](fields, 'request')
  })
}

/** The path of a URL that begins with a path. The query may contain a signature. */
export function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Longer than any ID and shorter than any token. */
const maxPlainSegmentLength = 64

/** Redacts the `:token` segment of the route. For an unknown route, redacts every long segment. */
function withoutTokens(path: string, route: string | undefined): string {
  const places = route?.split('/')
  const isSecret = (segment: string, place: number) =>
    places ? places[place] === ':token' : segment.length > maxPlainSegmentLength
  return path
    .split('/')
    .map((segment, place) => (isSecret(segment, place) ? '***' : segment))
    .join('/')
}
