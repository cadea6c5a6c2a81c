import { randomUUID } from 'node:crypto'
import { type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { readRequestId } from './request-id.ts'

export type ErrorAnswers = {
  /** Returns an error body in the format of this server's API. */
  makeBody: (status: number, message: string) => object
  /** The message to send when receiving a request or its headers takes too long. */
  timeoutMessage: string
}

/**
 * Responds to an invalid HTTP request with an error in the API's format. Then closes the connection, because it is
 * unknown where the request ends.
 */
export function answerBrokenRequest(
  { code = '' }: NodeJS.ErrnoException,
  socket: Duplex,
  { makeBody, timeoutMessage }: ErrorAnswers,
) {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problems: Record<string, [number, string]> = {
    HPE_HEADER_OVERFLOW: [431, 'the URL or the headers are too long'],
    HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too long'],
    ERR_HTTP_REQUEST_TIMEOUT: [408, timeoutMessage],
  }
  const [status, message] = problems[code] ?? [400, 'this is not a valid HTTP request']
  const body = JSON.stringify(makeBody(status, message))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/**
 * Makes the server respond to unknown `Expect` values with a 417 error in the API's format. Otherwise, Node would send
 * an empty 417. The only standard value is `100-continue` (RFC 9110 §10.1.1).
 */
export function answerUnknownExpectations(server: Server, { makeBody }: ErrorAnswers) {
  server.on('checkExpectation', (request, response) => {
    const body = JSON.stringify(makeBody(417, 'the only supported value of Expect is 100-continue'))
    response.statusCode = 417
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-request-id', readRequestId(request))
    response.end(body)
  })
}
