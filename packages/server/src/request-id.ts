import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Callers may name their request, in this shape: it gets into the log and into a header. */
const saneRequestId = /^[A-Za-z0-9._-]{1,64}$/

/** The `X-Request-Id` of the request if it has a sane one, otherwise a new UUID. */
export function readRequestId({ headers }: IncomingMessage): string {
  const named = headers['x-request-id']
  return typeof named === 'string' && saneRequestId.test(named) ? named : randomUUID()
}
