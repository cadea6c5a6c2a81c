import type { FastifyReply } from 'fastify'

/** As nginx counts them: the client left before it had its answer. Only the log and the metrics see it. */
export const clientClosedRequest = 499

/**
 * Calls `tell` once when an answer is over: `status` is that of the answer, or 499 if the client left before all of it was sent,
 * which Fastify's `onResponse` does not tell. `ms` is the time since this call. An answer whose connection a route has taken
 * (WebSocket) is never over.
 */
export function whenOver(reply: FastifyReply, tell: (end: { status: number; ms: number }) => void) {
  const { raw } = reply
  const startedAt = performance.now()
  const over = () => {
    raw.off('finish', over).off('close', over)
    const status = raw.writableFinished ? raw.statusCode : clientClosedRequest
    tell({ status, ms: performance.now() - startedAt })
  }
  raw.once('finish', over).once('close', over)
}
