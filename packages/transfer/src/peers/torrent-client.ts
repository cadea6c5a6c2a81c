import WebTorrent, { type Torrent } from 'webtorrent'
import { guardWires } from './guard-wires.ts'
import { limitPeerConnections } from './limit-connections.ts'
import { keepOneConnection } from './one-connection.ts'
import { checkPrivateNames, incomingServer } from './webtorrent-internals.ts'

export type TorrentClientOptions = {
  host: string
  /** 0: any free port. */
  port: number
  /** Bytes per second; undefined for no limit. */
  downloadLimit?: number | undefined
  uploadLimit: number | undefined
  /** The library's own options, next to these. */
  [name: string]: unknown
}

/** A BitTorrent client for pulls and seeders: TCP to peers from trackers and the local network, nothing else. */
export function torrentClient(options: TorrentClientOptions): WebTorrent {
  const { host, port, downloadLimit, uploadLimit, ...others } = options
  guardWires()
  const client = new WebTorrent({
    dht: false,
    lsd: false, // ours: local-discovery.ts
    natUpnp: false,
    natPmp: false,
    utp: false,
    secure: 1, // for incoming connections: guard-wires.ts
    webSeeds: false, // a pull has its own: registry-wire.ts
    tracker: { wrtc: false },
    torrentPort: { port, host },
    downloadLimit: downloadLimit ?? -1,
    uploadLimit: uploadLimit ?? -1,
    ...others,
  })
  checkPrivateNames('client', client)
  limitPeerConnections(incomingServer(client))
  client.on('add', (torrent: Torrent) => keepOneConnection(torrent, client.peerId))
  return client
}

/**
 * Resolves when it has left its peers and its trackers. After an error of its own, such as a port in use, that has
 * already happened.
 */
export async function destroyClient(client: WebTorrent): Promise<void> {
  if (client.destroyed) return
  await new Promise<void>((resolve) => client.destroy(() => resolve()))
}
