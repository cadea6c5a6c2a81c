import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * Sends `request` unchanged, for tests of requests that no HTTP client would send. The request must ask the server to
 * close the connection.
 */
export async function rawRequest(port: number, request: string) {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head: head.toLowerCase(), body }
}
