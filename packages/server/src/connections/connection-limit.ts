import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { classifyAddress, plainAddress } from '@shoal/core/addresses'
import { Counter, type Registry } from 'prom-client'
import { connectionSlots } from './connection-slots.ts'

type Options = {
  /** Maximum number of concurrent connections from one IPv4 address or one IPv6 /64 network. */
  maxPerAddress: number
  /**
   * Whether every connection comes from a trusted proxy. If so, the proxy must limit the connections of its clients.
   */
  trustProxy: boolean
  metrics: Registry
}

/**
 * Closes connections above the limit before reading anything from them. Connections from loopback addresses are not
 * limited.
 */
export function limitConnections(server: Server, { maxPerAddress, trustProxy, metrics }: Options) {
  const refused = new Counter({
    name: 'shoal_http_refused_connections_total',
    help: 'Connections closed immediately because their address had too many connections',
    registers: [metrics],
  })
  if (trustProxy) return
  const slots = connectionSlots({
    maxConnections: Number.POSITIVE_INFINITY,
    maxPerNetwork: maxPerAddress,
  })

  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress)
    if (address && classifyAddress(address) === 'loopback') return
    const giveBack = slots.take(address)
    if (giveBack) {
      socket.once('close', giveBack)
      return
    }
    refused.inc()
    socket.destroy()
  })
}
