/**
 * The sockets of local discovery: one per address family for receiving, and a temporary one for each network to which
 * an announcement is sent.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isSystemError } from '../../system-error.ts'
import { type LocalNetwork, pickOnePerInterface } from './local-networks.ts'

export type AddressFamily = LocalNetwork['family']

/** The multicast groups of BEP 14. */
export const groups = {
  IPv4: { address: '239.192.152.143', host: '239.192.152.143:6771', type: 'udp4' },
  IPv6: { address: 'ff15::efc0:988f', host: '[ff15::efc0:988f]:6771', type: 'udp6' },
} as const
export const groupPort = 6771

type Hear = (packet: Buffer, sender: string) => void

/**
 * Receives packets sent to a multicast group, on the networks that are passed to the returned `join`. `join` must be
 * called regularly, because it also repairs sockets and memberships that have failed.
 */
export function listenToGroup(family: AddressFamily, port: number, hear: Hear) {
  const { address, type } = groups[family]
  let socket: Socket | undefined
  let isBound = false
  let networks: LocalNetwork[] = []

  function open() {
    const opened = createSocket({ type, reuseAddr: true, ipv6Only: family === 'IPv6' })
    socket = opened
    opened.on('message', (packet, { address: sender }) => hear(packet, sender))
    opened.on('error', () => {
      if (socket === opened) close() // for example, the port is in use: `join` tries again
    })
    // A socket that is bound to the address of the group receives no unicast packets. Windows cannot bind to such an
    // address.
    const bindAddress = process.platform === 'win32' ? undefined : address
    opened.bind({ port, ...(bindAddress && { address: bindAddress }) }, () => {
      isBound = true
      joinAll()
    })
  }

  function joinAll() {
    for (const { name, address: own } of pickOnePerInterface(networks)) {
      try {
        socket?.addMembership(address, family === 'IPv4' ? own : `::%${name}`)
      } catch (error) {
        // We are already a member, the network has just disappeared, or Linux's limit of twenty memberships has been
        // reached. Other memberships are not affected.
        if (!isSystemError(error)) throw error
      }
    }
  }

  function close() {
    socket?.close()
    socket = undefined
    isBound = false
  }

  return {
    join(all: LocalNetwork[]) {
      networks = all.filter((network) => network.family === family)
      if (networks.length === 0) close()
      else if (!socket) open()
      else if (isBound) joinAll()
    },
    close,
  }
}

/**
 * Sends packets to the group on one network, but not beyond its local link. If the network has just disappeared or
 * blocks the packets, they are lost without an error.
 */
export async function sendToNetwork(
  { family, name, address: own, speaksFrom }: LocalNetwork,
  port: number,
  packets: string[],
): Promise<void> {
  const { address, type } = groups[family]
  const socket = createSocket({ type, ipv6Only: family === 'IPv6' })
  try {
    socket.bind(0, speaksFrom)
    await once(socket, 'listening')
    socket.on('error', () => undefined) // `send` also reports the error
    socket.setMulticastInterface(family === 'IPv4' ? own : `::%${name}`)
    socket.setMulticastTTL(1)
    for (const packet of packets) {
      await new Promise<void>((resolve, reject) =>
        socket.send(packet, port, address, (error) => (error ? reject(error) : resolve())),
      )
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
  } finally {
    socket.close()
  }
}
