import type { FastifyReply, FastifyRequest } from 'fastify'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked every few seconds by machines: worth a line only at the level `debug`. */
    isQuiet?: boolean
  }
}

/** What a server logs of a request besides what every server does. Asked once the answer is over; `query` is null if the URL was broken. */
export type LogFields = (request: FastifyRequest) => object

/** Puts the request's id on the answer, and logs one line when that is over. Queries, bodies and tokens do not get into the log. */
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

/** The path of a URL that begins with it. The query may hold a signature. */
export function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/** Longer than any id, and shorter than any token. */
const maxPlainSegmentLength = 64

/** A token stands where the route has `:token`, and where there is no route, in whatever is long. */
function withoutTokens(path: string, route: string | undefined): string {
  const places = route?.split('/')
  const isSecret = (segment: string, place: number) =>
    places ? places[place] === ':token' : segment.length > maxPlainSegmentLength
  return path
    .split('/')
    .map((segment, place) => (isSecret(segment, place) ? '***' : segment))
    .join('/')
}
