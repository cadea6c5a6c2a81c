import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { classifyAddress, plainAddress } from '@shoal/core/addresses'
import { Counter, type Registry } from 'prom-client'
import { connectionSlots } from './connection-slots.ts'

type Options = {
  /** Connections at a time of one IPv4 address or one IPv6 network of 64 bits. */
  maxPerAddress: number
  /** Every connection comes from the proxy in front, which has to count. */
  trustProxy: boolean
  metrics: Registry
}

/** Closes connections beyond the limit before anything of them is read. This machine has no limit. */
export function limitConnections(server: Server, { maxPerAddress, trustProxy, metrics }: Options) {
  const refused = new Counter({
    name: 'shoal_http_refused_connections_total',
    help: 'Connections closed at once because their address had too many',
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
