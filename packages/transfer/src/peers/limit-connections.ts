import type { Server, Socket } from 'node:net'
import { getNetwork, plainAddress } from '@shoal/core/addresses'
import { keyedSlots } from '@shoal/core/limits'

const maxConnections = 256
/** Per IPv4 address or IPv6 /64. */
const maxPerNetwork = 32

/** Limits incoming connections, because each uses one of the process's limited number of file descriptors. */
export function limitPeerConnections(server: Server) {
  const slots = keyedSlots({ max: maxConnections, maxPerKey: maxPerNetwork })
  // This listener runs before the library's own listener, which ignores sockets that are already closed.
  server.prependListener('connection', (socket: Socket) => {
    const release = slots.take(getNetwork(plainAddress(socket.remoteAddress) ?? ''))
    if (release) socket.once('close', release)
    else socket.destroy()
  })
}
