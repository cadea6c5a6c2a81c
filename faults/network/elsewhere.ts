import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exchangeWith } from './exchange.ts'

/**
 * Starts a server that has a different origin but serves the same bytes as the registry. The server must never receive
 * credentials, and records any requests that contain credentials.
 */
export async function startElsewhere(registryPort: () => number, registryHost: string) {
  const credentials: string[] = []
  const server = createServer((request, response) => {
    const { authorization, cookie } = request.headers
    if (authorization || cookie) credentials.push(`${request.method} ${request.url}`)
    request.headers.host = registryHost
    const exchange = exchangeWith(request, response, { registryPort: registryPort() })
    exchange.pass().catch(() => exchange.drop()) // the other side has closed the connection
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the requests with credentials since the last call. */
    takeCredentials: () => credentials.splice(0),
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
