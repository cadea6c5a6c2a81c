import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { hasCode } from '@shoal/core/errors'
import { breakOff } from '@shoal/server'
import { isKnown } from '@shoal/server/cache'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteBudget } from '../store/byte-budget.ts'
import type { ObjectReader } from '../store/object-reader.ts'
import type { ByteRange } from '../store/object-store.ts'
import { bytePump } from './byte-pump.ts'
import { byteRange } from './byte-range.ts'

type Bytes = {
  sizeBytes: number
  /** A strong entity tag, because the bytes never change. */
  etag: string
  /** Opens the object for reading this range. Reading ends when the signal is aborted. */
  open(range: ByteRange, signal: AbortSignal): Promise<ObjectReader>
  /** Offset of the bytes in the object. Default: 0. */
  offset?: number
  budget: ByteBudget
}

/**
 * Responds to a GET or HEAD request with bytes. Supports `Range`, `If-Range` and `If-None-Match`, with the responses
 * 206, 304 and 416 (RFC 9110). The bytes are written to the socket without streams, which takes a fifth of the CPU time
 * that streams would take.
 */
export async function sendBytes(request: FastifyRequest, reply: FastifyReply, bytes: Bytes) {
  const { sizeBytes, etag, offset = 0 } = bytes
  reply.header('accept-ranges', 'bytes').header('etag', etag).type('application/octet-stream')

  if (isKnown(etag, request.headers['if-none-match'])) {
    return reply.code(304).removeHeader('content-type').send()
  }
  const ifRange = request.headers['if-range']
  const isStale = ifRange !== undefined && ifRange !== etag
  const asked = byteRange(isStale ? undefined : request.headers.range, sizeBytes)
  if (asked === 'unsatisfiable') {
    reply.header('content-range', `bytes */${sizeBytes}`).type('application/json')
    return reply.code(416).send({ detail: `the range is outside the ${sizeBytes} available bytes` })
  }
  const range = asked === 'whole' ? { start: 0, size: sizeBytes } : asked
  if (asked !== 'whole') {
    const end = range.start + range.size - 1
    reply.header('content-range', `bytes ${range.start}-${end}/${sizeBytes}`)
  }
  reply.code(asked === 'whole' ? 200 : 206).header('content-length', range.size)
  if (request.method === 'HEAD') return reply.send('')
  return pump(request, reply, bytes, { start: offset + range.start, size: range.size })
}

async function pump(
  request: FastifyRequest,
  reply: FastifyReply,
  { open, budget }: Bytes,
  range: ByteRange,
) {
  const { raw: response } = reply
  const gone = new AbortController()
  response.on('close', () => gone.abort())

  if (!(await isItsTurn(request, response))) return reply.hijack()
  const reader = await open(range, gone.signal)
  const share = budget.join()
  try {
    const bytes = bytePump({ reader, range, share, response, gone: gone.signal })
    await bytes.ready() // before the headers are sent, so that a failure can still result in an error response
    reply.hijack()
    response.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
    await bytes.send()
    response.end()
  } catch (error) {
    if (gone.signal.aborted || hasCode(error, 'client_gone')) return reply.hijack()
    if (!response.headersSent) throw error
    breakOff(response) // the body is then shorter than Content-Length, so the client notices and can request the rest
    request.log.error({ err: error }, 'download failed')
  } finally {
    await reader.close() // waits for pending reads, which still use the buffers
    share.leave()
  }
  return reply
}

/**
 * For each connection, a promise that resolves when the connection is closed. All requests that wait on the same
 * connection share one promise.
 */
const closings = new WeakMap<Socket, Promise<unknown>>()

/**
 * Waits until earlier requests on the same connection have been answered (pipelining, RFC 9112 §9.3.2), so that a
 * client that has stopped reading occupies only one buffer and one open file, however many requests it has sent.
 * Resolves to false if the connection is closed.
 */
async function isItsTurn({ raw }: FastifyRequest, response: ServerResponse): Promise<boolean> {
  const { socket } = raw
  if (response.socket || !(socket instanceof Socket)) return true
  if (socket.destroyed) return false
  const closing = closings.get(socket) ?? once(socket, 'close').catch(() => undefined)
  closings.set(socket, closing)
  await Promise.race([once(response, 'socket'), closing])
  return !socket.destroyed
}
