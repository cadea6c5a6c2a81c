import type { Server, Socket } from 'node:net'

const maxConnections = 256
const maxPerAddress = 32

/** Bounds the connections that others may open: each costs a file descriptor, of which the daemon has few. */
export function limitPeerConnections(server: Server) {
  const open = new Map<string, number>()
  server.maxConnections = maxConnections
  // Before the library's own listener, which passes over a socket that is closed.
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress: address = '' } = socket
    const count = open.get(address) ?? 0
    if (count >= maxPerAddress) return socket.destroy()
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}
