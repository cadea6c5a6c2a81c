import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import {
  chooseEncoding,
  compress,
  type Encoding,
  encodedEtag,
  isCompressible,
  minCompressedBytes,
} from './compression.ts'
import { isKnown } from './if-none-match.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Returns the compressed body. Set by a cache, which compresses a body once for all requests. */
    compressOnce: ((encoding: Encoding) => Promise<Buffer>) | undefined
    /** The body that Fastify removes from the response to a HEAD request before the last hook runs. */
    removedBody: string | Buffer | undefined
  }
}

/**
 * Adds caching headers and compresses responses. Unless a route sets `Cache-Control` itself, a response may be cached
 * only by the caller and must be revalidated before each use (`ETag`, 304). Only responses of routes with
 * `isCompressible` are compressed.
 */
export const caching = fp(async (app: FastifyInstance) => {
  app.decorateRequest('compressOnce')
  app.decorateRequest('removedBody')
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'private, no-cache')
      addVary(reply, 'Authorization, Cookie')
    }
    if (isCompressible(request, reply)) addVary(reply, 'Accept-Encoding')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || reply.statusCode !== 200) return done()
    if (!isWhole(payload)) return done()
    if (request.method === 'HEAD') request.removedBody = payload
    if (!reply.hasHeader('etag')) reply.header('etag', computeEtag(payload))
    done()
  })
  // A route's own hooks run last, so the response cache can keep the complete response.
  app.addHook('onRoute', (route) => {
    route.onSend = [route.onSend ?? [], sendRepresentation].flat()
  })
})

type OnSendDone = (error: Error | null, payload?: unknown) => void

/** Sends a compressed response if the client accepts it, or a 304 if the client already has the current response. */
function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: OnSendDone,
) {
  const { method, headers } = request
  const body = isWhole(payload) ? payload : request.removedBody
  const isLong = body !== undefined && body.length >= minCompressedBytes
  const encoding =
    isLong && isCompressible(request, reply)
      ? chooseEncoding(headers['accept-encoding'])
      : undefined
  const etag = reply.getHeader('etag')
  if (encoding && etag !== undefined) reply.header('etag', encodedEtag(String(etag), encoding))
  const isRead = method === 'GET' || method === 'HEAD'
  const hasEtag = isRead && reply.statusCode === 200 && etag !== undefined
  if (hasEtag && isKnown(String(reply.getHeader('etag')), headers['if-none-match'])) {
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return done(null, method === 'HEAD' ? payload : null) // Fastify removes the body of a HEAD response itself
  }
  if (!encoding || body === undefined) return done(null, payload)
  const compressOnce = request.compressOnce ?? ((one) => compress(Buffer.from(body), one))
  compressOnce(encoding).then((compressed) => {
    reply.header('content-encoding', encoding).header('content-length', compressed.length)
    done(null, method === 'HEAD' ? payload : compressed)
  }, done)
}

function addVary(reply: FastifyReply, names: string) {
  const vary = String(reply.getHeader('vary') ?? '')
  if (vary.includes(names)) return // a cached response
  reply.header('vary', vary ? `${vary}, ${names}` : names)
}

const isWhole = (payload: unknown): payload is string | Buffer =>
  typeof payload === 'string' || Buffer.isBuffer(payload)

const computeEtag = (payload: string | Buffer) =>
  `"${createHash('sha1').update(payload).digest('base64')}"`
