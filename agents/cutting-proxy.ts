/** A proxy in front of a daemon that can cut a connection in the middle of an answer. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export async function cuttingProxy(daemon: string) {
  const { hostname: host, port } = new URL(daemon)
  const sockets = new Set<Socket>()
  let cutsLeft = 0
  const server = createServer((client) => {
    const upstream = connect({ host, port: Number(port) })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => upstream.destroy()) // the other side notices that the connection is closed
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      const isAnswer = cutsLeft > 0 && /event-stream/.test(bytes.toString('latin1'))
      if (!isAnswer) {
        client.write(bytes)
        return
      }
      cutsLeft -= 1
      client.write(bytes.subarray(0, bytes.length - 1), () => client.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Cuts the next streamed answer. */
    cutNext() {
      cutsLeft += 1
    },
    cutsLeft: () => cutsLeft,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
