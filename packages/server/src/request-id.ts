import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The allowed format of a client's request ID, which appears in the log and in a response header. */
const saneRequestId = /^[A-Za-z0-9._-]{1,64}$/

/** The request's `X-Request-Id` if it is valid, otherwise a new UUID. */
export function readRequestId({ headers }: IncomingMessage): string {
  const named = headers['x-request-id']
  return typeof named === 'string' && saneRequestId.test(named) ? named : randomUUID()
}
