import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** Like nginx: the client closed the connection before it had the response. Appears only in the log and the metrics. */
export const clientClosedRequest = 499

const brokenOff = new WeakSet<ServerResponse>()

/** Aborts a response that has begun and cannot be finished, so that no client takes it for complete. Counted as 500. */
export function breakOff(response: ServerResponse) {
  brokenOff.add(response)
  response.destroy()
}

/**
 * Calls `report` once when a response is over. `status` is that of the response, 499 if the client left before all of it was
 * sent (which Fastify's `onResponse` does not report), or 500 if it was aborted. `ms` is the time since this call. Never called
 * if a route has taken over the connection (WebSocket).
 */
export function whenOver(
  response: ServerResponse,
  report: (end: { status: number; ms: number }) => void,
) {
  const startedAt = performance.now()
  const isInjected = !(response.socket instanceof Socket) // by `app.inject`, where the client cannot leave
  // Also emitted after `finish`, as soon as the last byte has been handed to the system.
  response.once('close', () => {
    const isWhole = isInjected ? response.writableEnded : response.writableFinished
    const status = isWhole
      ? response.statusCode
      : brokenOff.has(response)
        ? 500
        : clientClosedRequest
    report({ status, ms: performance.now() - startedAt })
  })
}
