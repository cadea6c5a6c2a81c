import type { Server, Socket } from 'node:net'

const maxConnections = 256
const maxPerAddress = 32

/** Limits incoming connections, because each uses one of the process's limited number of file descriptors. */
export function limitPeerConnections(server: Server) {
  const open = new Map<string, number>()
  server.maxConnections = maxConnections
  // This listener runs before the library's own listener, which ignores sockets that are already closed.
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
