import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { dropConnection } from './webtorrent-internals.ts'

/**
 * Two peers that learn of each other at the same moment both connect. The library keeps both connections, and asks over the
 * faster one for blocks that are on their way over the other. Of the two, one is kept that has brought blocks already, and
 * otherwise the one that the peer with the smaller id opened: both ends come to the same choice.
 */
export function keepOneConnection(torrent: Torrent, ownId: string) {
  torrent.on('wire', (wire: Wire) => {
    const twin = torrent.wires.find((other) => other !== wire && isSamePeer(other, wire))
    if (!twin) return
    const isInUse = twin.downloaded + twin.uploaded > 0
    dropConnection(torrent, isInUse || isPreferred(twin, ownId) ? wire : twin)
  })
}

/** Only a peer at the same address: anyone can claim the id of another. */
const isSamePeer = (one: Wire, other: Wire) =>
  one.type !== 'webSeed' && one.peerId === other.peerId && one.remoteAddress === other.remoteAddress

const isPreferred = ({ type, peerId = '' }: Wire, ownId: string) =>
  (type === 'tcpOutgoing') === ownId < peerId
