/**
 * Handles requests from pages of other origins, and the preflight requests that browsers send before them (CORS,
 * https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

const methods = 'GET, HEAD, POST, DELETE, OPTIONS'
/** Headers that clients of Ollama, OpenAI and Anthropic send. */
const allowedHeaders =
  /^(authorization|content-type|user-agent|accept|x-requested-with|x-api-key|(x-stainless|openai|anthropic)-[a-z-]+)$/
const exposedHeaders = 'X-Request-Id, Retry-After'
const maxAgeSeconds = 86_400

/** Allows only pages from this origin to read the response. */
export function allowOrigin(reply: FastifyReply, origin: string) {
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-expose-headers', exposedHeaders)
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

export function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply) {
  const asked = String(headers['access-control-request-headers'] ?? '')
  const allowed = asked
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => allowedHeaders.test(name))
  reply.header('access-control-allow-methods', methods)
  if (allowed.length > 0) reply.header('access-control-allow-headers', allowed.join(', '))
  reply.header('access-control-max-age', maxAgeSeconds)
  // Chrome requires this header when a page on the internet calls a machine in the local network, such as this one.
  if (headers['access-control-request-private-network'] === 'true') {
    reply.header('access-control-allow-private-network', 'true')
  }
  return reply.code(204).send()
}
