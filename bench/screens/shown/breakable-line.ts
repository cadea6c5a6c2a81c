import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Starts a TCP proxy. Its connections can be cut, as if the server had stopped. */
export async function openLine(toPort: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) return socket.destroy()
    const onward = connect(toPort, '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => sockets.delete(one))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function cut() {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    cut,
    restore() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
