import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

export type StallingProxy = Disposable & {
  /** The database URL through the proxy. */
  url: string
  /** Stops forwarding. Open connections stay open, and new connections are accepted. */
  stall(): void
  /** Forwards the data that was held back, and continues forwarding. */
  goOn(): void
}

/** Starts a TCP proxy for a PostgreSQL server that listens on a Unix socket. */
export async function startStallingProxy(databaseUrl: string): Promise<StallingProxy> {
  const url = new URL(databaseUrl)
  const path = join(decodeURIComponent(url.hostname), '.s.PGSQL.5432')
  const sockets = new Set<Socket>()
  let isStalled = false

  const server = createServer((incoming) => {
    const outgoing = connect(path)
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket)
      if (isStalled) socket.pause()
      socket.on('data', (bytes) => void other.write(bytes))
      socket.on('end', () => other.end())
      socket.on('error', () => other.destroy()) // also closes the other side
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      if (isStalled) socket.pause() // adding a `data` listener has resumed the socket
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://shoal@127.0.0.1:${port}${url.pathname}`,
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    goOn() {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
