import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'

/** As nginx counts them: the client left before it had its answer. Only the log and the metrics see it. */
export const clientClosedRequest = 499

const brokenOff = new WeakSet<ServerResponse>()

/** Ends an answer that has begun and cannot be finished, so that nobody takes it for a whole one. It counts as 500. */
export function breakOff(response: ServerResponse) {
  brokenOff.add(response)
  response.destroy()
}

/**
 * Calls `tell` once when an answer is over: `status` is that of the answer, 499 if the client left before all of it was sent, which
 * Fastify's `onResponse` does not tell, or 500 if it was broken off. `ms` is the time since this call. An answer whose connection a
 * route has taken (WebSocket) is never over.
 */
export function whenOver(
  reply: FastifyReply,
  report: (end: { status: number; ms: number }) => void,
) {
  const { raw } = reply
  const startedAt = performance.now()
  const isInjected = !(raw.socket instanceof Socket) // by `app.inject`: no client can leave
  const over = () => {
    raw.off('finish', over).off('close', over)
    const isWhole = isInjected ? raw.writableEnded : raw.writableFinished
    const status = isWhole ? raw.statusCode : brokenOff.has(raw) ? 500 : clientClosedRequest
    report({ status, ms: performance.now() - startedAt })
  }
  raw.once('finish', over).once('close', over)
}
