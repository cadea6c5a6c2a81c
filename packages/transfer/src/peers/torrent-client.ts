import type Wire from 'bittorrent-protocol'
import WebTorrent, { type Torrent } from 'webtorrent'
import { guardWires } from './guard-wires.ts'
import { limitPeerConnections } from './limit-connections.ts'
import { keepOneConnection } from './one-connection.ts'
import { checkPrivateNames, incomingServer } from './webtorrent-internals.ts'

export type TorrentClientOptions = {
  host: string
  /** The port to listen on; 0 for any free port. */
  port: number
  /** Bytes per second; undefined for no limit. */
  downloadLimit?: number | undefined
  uploadLimit: number | undefined
  /** Any other options for the library. */
  [name: string]: unknown
}

/**
 * Creates a BitTorrent client for pulls and seeders. It uses only TCP, and only peers from trackers and the local
 * network.
 */
export function torrentClient(options: TorrentClientOptions): WebTorrent {
  const { host, port, downloadLimit, uploadLimit, ...others } = options
  guardWires()
  const client = new WebTorrent({
    dht: false,
    lsd: false, // replaced by local-discovery.ts
    natUpnp: false,
    natPmp: false,
    utp: false,
    secure: 1, // only for incoming connections: see guard-wires.ts
    webSeeds: false, // replaced by registry-wire.ts in a pull
    tracker: { wrtc: false },
    torrentPort: { port, host },
    downloadLimit: downloadLimit ?? -1,
    uploadLimit: uploadLimit ?? -1,
    ...others,
  })
  checkPrivateNames('client', client)
  limitPeerConnections(incomingServer(client))
  client.on('add', (torrent: Torrent) => {
    torrent.on('wire', unmapAddress)
    keepOneConnection(torrent, client.peerId)
  })
  return client
}

/**
 * Restores the IPv4 address of a peer that has connected over IPv4 to a client that listens on `::`, so that the peer
 * has the same address as in a connection that we open to it.
 */
function unmapAddress(wire: Wire) {
  wire.remoteAddress = wire.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/i, '')
}

/**
 * Resolves when the client has disconnected from its peers and trackers. After a fatal error, such as a port in use,
 * the client has already done so.
 */
export async function destroyClient(client: WebTorrent): Promise<void> {
  if (client.destroyed) return
  await new Promise<void>((resolve) => client.destroy(() => resolve()))
}
