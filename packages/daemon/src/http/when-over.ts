import type { FastifyReply } from 'fastify'

/** As nginx counts them: the client left before it had its answer. Nobody sees it but the log. */
export const clientClosedRequest = 499

/** Calls back when an answer is over, also where the client gave it up, which the framework's own hook does not tell. */
export function whenOver(reply: FastifyReply, tell: (end: { status: number; ms: number }) => void) {
  const { raw } = reply
  const startedAt = performance.now()
  raw.once('close', () => {
    const status = raw.writableFinished ? raw.statusCode : clientClosedRequest
    tell({ status, ms: performance.now() - startedAt })
  })
}
