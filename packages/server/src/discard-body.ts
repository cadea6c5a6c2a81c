import type { FastifyReply, FastifyRequest } from 'fastify'

const maxBytes = 64 * 1024 * 1024

/**
 * Reads and discards the rest of a refused request's body, up to 64 MiB. If the server closed the connection instead,
 * the client could receive a TCP reset before it has read the response (RFC 9112 §9.6). The connection is closed only
 * if the body is larger.
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply) {
  if (Number(raw.headers['content-length'] ?? 0) > maxBytes) {
    reply.header('connection', 'close')
    return
  }
  reply.removeHeader('connection') // set by Fastify when it refuses a body
  if (raw.complete) return
  let receivedBytes = 0
  raw.on('data', ({ length }: Buffer) => {
    receivedBytes += length
    if (receivedBytes > maxBytes) raw.destroy()
  })
}
