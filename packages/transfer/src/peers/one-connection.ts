import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { dropConnection } from './webtorrent-internals.ts'

/** Peers that learn of each other at the same moment have both connected by then. */
const sameMomentMs = 10_000

/**
 * Two peers that learn of each other at the same moment both connect. The library keeps both connections, and asks over the
 * faster one for blocks that are on their way over the other. Here one is kept: the earlier one if it is bringing blocks, the one
 * that the peer with the smaller id opened if both have just been opened, otherwise the later one, since a peer that comes again
 * may have lost the earlier one. Should the ends choose differently, or the one that was kept break, the other is opened again.
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

/** Not of a connection that broke without our being told: nothing has come over it for seconds. */
const isMoving = (wire: Wire) => wire.downloadSpeed() + wire.uploadSpeed() > 0

function openAgain(torrent: Torrent, { remoteAddress = '', remotePort }: Wire) {
  const host = remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress
  if (!torrent.destroyed) torrent.addPeer(`${host}:${remotePort}`)
}

/** Only a peer at the same address: anyone can claim the id of another. */
const isSamePeer = (one: Wire, other: Wire) =>
  one.type !== 'webSeed' && one.peerId === other.peerId && one.remoteAddress === other.remoteAddress

const isPreferred = ({ type, peerId = '' }: Wire, ownId: string) =>
  (type === 'tcpOutgoing') === ownId < peerId
