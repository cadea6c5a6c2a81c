import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/**
 * The status of a request whose client closed the connection before receiving the complete response; nginx uses the
 * same status. It appears only in the log and the metrics.
 */
export const clientClosedRequest = 499

const brokenOff = new WeakSet<ServerResponse>()

/**
 * Aborts a response that has begun and cannot be finished, so that clients do not treat it as complete. The request is
 * logged and counted with status 500, or 499 if the client has already disconnected.
 */
export function breakOff(response: ServerResponse) {
  if (!response.socket?.destroyed) brokenOff.add(response)
  response.destroy()
}

/**
 * Calls `report` once, after a response has ended. `status` is usually the response's status. It is 499 if the client
 * disconnected before the whole response was sent, which Fastify's `onResponse` does not report, and 500 if the
 * response was aborted. `ms` is the time since `whenOver` was called. `report` is never called if a route has taken
 * over the connection (WebSocket).
 */
export function whenOver(
  response: ServerResponse,
  report: (end: { status: number; ms: number }) => void,
) {
  const startedAt = performance.now()
  const isInjected = !(response.socket instanceof Socket) // `app.inject` has no client that could disconnect
  // `close` is also emitted after `finish`, as soon as the last byte has been passed to the operating system.
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
