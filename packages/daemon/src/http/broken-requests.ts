import { type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Fault } from '../errors.ts'
import { bodyOf } from './error-handler.ts'

const statusOfCode: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'the URL or the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
}

/** Answers what is no HTTP request in the shape of other errors, and closes the connection: its end cannot be told. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex) {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, message] = statusOfCode[error.code ?? ''] ?? [400, 'this is no HTTP request']
  const body = JSON.stringify(bodyOf(new Fault(status, message)))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${crypto.randomUUID()}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** `Expect` knows one value (RFC 9110 §10.1.1); Node answers any other with an empty 417. */
export function answerUnknownExpectations(server: Server) {
  server.on('checkExpectation', (_request, response) => {
    const body = JSON.stringify(bodyOf(new Fault(417, 'Expect can only be 100-continue')))
    response.statusCode = 417
    response.setHeader('x-request-id', crypto.randomUUID())
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(body)
  })
}
