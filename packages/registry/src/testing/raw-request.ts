import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** Sends exactly these bytes, for requests that no HTTP client would send. */
export async function rawRequest(
  port: number,
  request: string,
): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  const answer = await text(socket)
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), text: answer }
}
