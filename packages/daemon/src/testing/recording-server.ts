import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a server that records its requests, and answers each with the same JSON. */
export async function startRecordingServer(body: unknown) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, answer) => {
    requests.push(request)
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
