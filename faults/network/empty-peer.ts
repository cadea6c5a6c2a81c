/**
 * A minimal peer without any pieces (BEP 3, 23). Its presence makes a swarm in which only the registry can send pieces.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { RegistryClient } from '@shoal/protocol/client'

const peerId = '-XX0000-nothing-here'
/** The protocol's name, and eight zero bytes: no extensions. */
const greeting = Buffer.concat([Buffer.from('\x13BitTorrent protocol'), Buffer.alloc(8)])

/**
 * Starts a peer that stays in the tracker's list until it is disposed of. `client` connects to the registry directly.
 */
export async function emptyPeer(client: RegistryClient, modelName: string): Promise<Disposable> {
  const [file] = await client.listFiles(modelName)
  const infoHash = file?.torrent_info_hash
  if (!infoHash) throw new Error(`${modelName} has no torrent`)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()) // the other side has closed the connection
    socket.once('data', () => {
      socket.write(Buffer.concat([greeting, Buffer.from(infoHash, 'hex'), Buffer.from(peerId)]))
    })
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const announce = (event: 'started' | 'stopped') =>
    fetch(
      `${client.baseUrl}/announce?info_hash=${infoHash.replace(/../g, '%$&')}&peer_id=${peerId}` +
        `&port=${port}&uploaded=0&downloaded=0&left=1&compact=1&event=${event}`,
    )
  await announce('started')
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      announce('stopped').catch(() => undefined) // if this fails, the tracker removes the peer after a timeout
    },
  }
}
