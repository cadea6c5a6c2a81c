import type { FastifyReply, FastifyRequest } from 'fastify'

/** Larger bodies are not received: the connection is closed instead. */
const maxBytes = 64 * 1024 * 1024

/**
 * Reads and discards the rest of a refused request's body. If the server closed the connection
 * instead, the client could receive a TCP reset before it has read the response (RFC 9112 §9.6). The connection is
 * closed only if the body is larger than 64 MiB.
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply) {
  if (Number(raw.headers['content-length'] ?? 0) > maxBytes) {
    reply.header('connection', 'close')
    return
  }
  reply.removeHeader('connection') // Fastify closes connections after bodies that it refuses
  if (raw.complete) return
  let receivedBytes = 0
  raw.on('data', ({ length }: Buffer) => {
    receivedBytes += length
    if (receivedBytes > maxBytes) raw.destroy()
  })
}
