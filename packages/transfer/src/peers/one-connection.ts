import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { dropConnection } from './webtorrent-internals.ts'

/** Two connections opened within this time, one by each peer, are considered simultaneous. */
const sameMomentMs = 10_000

/**
 * Keeps only one connection to each peer. If two peers learn of each other at the same moment, both connect, and the
 * library would keep both connections. Over the faster one, it would request blocks that are already in transit over
 * the slower one. This function keeps:
 * - the earlier connection if it is transferring blocks;
 * - otherwise, if each peer has just opened one of them, the one opened by the peer with the smaller ID;
 * - otherwise, the later connection, because a peer that reconnects may have lost the earlier one.
 *
 * If the two peers choose differently, or if the kept connection breaks, the peer that had opened the dropped
 * connection opens it again.
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

/**
 * Whether bytes have been transferred in the last few seconds. If not, the connection may have broken without notice.
 */
const isMoving = (wire: Wire) => wire.downloadSpeed() + wire.uploadSpeed() > 0

function openAgain(torrent: Torrent, { remoteAddress = '', remotePort }: Wire) {
  const host = remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress
  if (!torrent.destroyed) torrent.addPeer(`${host}:${remotePort}`)
}

/**
 * Whether two connections are to the same peer. They must have the same address, because a peer can claim the ID of
 * another.
 */
const isSamePeer = (one: Wire, other: Wire) =>
  one.type !== 'webSeed' && one.peerId === other.peerId && one.remoteAddress === other.remoteAddress

const isPreferred = ({ type, peerId = '' }: Wire, ownId: string) =>
  (type === 'tcpOutgoing') === ownId < peerId
