import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { dropConnection } from './webtorrent-internals.ts'

/** Peers that learn of each other at the same moment have both connected by then. */
const sameMomentMs = 10_000

/**
 * Two peers that learn of each other at the same moment both connect. The library keeps both connections, and requests
 * blocks over the faster one that are in transit over the other. Here one is kept: the earlier one if it is delivering
 * blocks, the one opened by the peer with the smaller ID if both are new, otherwise the later one, since a peer that
 * reconnects may have lost the earlier one. If the ends choose differently, or the kept one breaks, the other is opened
 * again.
 */
export function keepOneConnection(torrent: Torrent, ownId: string) {
  const openedAt = new WeakMap<Wire, number>()
  torrent.on('wire', (wire: Wire) => {
    const now = performance.now()
    openedAt.set(wire, now)
    const twin = torrent.wires.find((other) => other !== wire && isSamePeer(other, wire))
    if (!twin) return
    const isSameMoment = now - (openedAt.get(twin) ?? 0) < sameMomentMs && twin.type !== wire.type
    const isKept = isMoving(twin) || (isSameMoment && isPreferred(twin, ownId))
    const [kept, dropped] = isKept ? [twin, wire] : [wire, twin]
    dropConnection(torrent, dropped)
    if (dropped.type === 'tcpOutgoing') kept.once('close', () => openAgain(torrent, dropped))
  })
}

/** Unless the connection broke without notice: no byte has arrived over it for seconds. */
const isMoving = (wire: Wire) => wire.downloadSpeed() + wire.uploadSpeed() > 0

function openAgain(torrent: Torrent, { remoteAddress = '', remotePort }: Wire) {
  const host = remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress
  if (!torrent.destroyed) torrent.addPeer(`${host}:${remotePort}`)
}

/** Only a peer at the same address: anyone can claim the ID of another. */
const isSamePeer = (one: Wire, other: Wire) =>
  one.type !== 'webSeed' && one.peerId === other.peerId && one.remoteAddress === other.remoteAddress

const isPreferred = ({ type, peerId = '' }: Wire, ownId: string) =>
  (type === 'tcpOutgoing') === ownId < peerId
