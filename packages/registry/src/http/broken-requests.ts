import { randomUUID } from 'node:crypto'
import { type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

const statusOfCode: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'the URL or the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunk extensions are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the headers took too long to arrive'],
}

/** Answers what is no HTTP request in the shape of every other error, and closes the connection: its end cannot be told. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex) {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, detail] = statusOfCode[error.code ?? ''] ?? [400, 'this is no HTTP request']
  const body = JSON.stringify({ detail })
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

/** `Expect` knows one value (RFC 9110 §10.1.1); Node answers any other with an empty 417. */
export function answerUnknownExpectations(server: Server) {
  server.on('checkExpectation', (_request, response) => {
    const body = JSON.stringify({ detail: 'Expect can only be 100-continue' })
    response.setHeader('x-request-id', randomUUID())
    response.writeHead(417, { 'content-type': 'application/json; charset=utf-8' }).end(body)
  })
}
