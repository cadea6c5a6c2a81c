import { type Clock, waitingClock } from '@shoal/core/async'
import { isShoal } from '@shoal/model-file'
import type { Network } from '@shoal/network/requests'
import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { rankFor } from './divide-pieces.ts'
import { RegistryWire } from './registry-wire.ts'
import type { Pieces } from './swarm-messages.ts'
import { getInternals } from './webtorrent-internals.ts'

/** Maximum number of pieces requested from the registry at the same time. */
export const maxRegistryRequests = 4

/** If peers send nothing for this long, the pieces that they have are also requested from the registry. */
const peerTimeoutMs = 3_000
/** A puller that has not received a piece for this long is no longer expected to fetch any from the registry. */
const pullerTimeoutMs = 5_000
/** A puller that has had nothing left to fetch for this long helps the others, one piece at a time. */
const helpAfterMs = 3_000

type RegistryAmongPeers = {
  network: Network
  fileSizeBytes: number
  /** Our own peer ID, in hexadecimal digits. */
  peerId: string
  bytesFromPeers(): number
  clock?: Clock
}

/**
 * Requests pieces from the registry: those that are wanted and that no peer has. The peers that are pulling the file
 * with shoal at the moment divide these pieces among themselves, so that only one of them requests each piece. If no
 * peer delivers anything, requests all wanted pieces.
 */
export function registryAmongPeers(
  torrent: Torrent,
  { network, fileSizeBytes, peerId, bytesFromPeers, clock = waitingClock }: RegistryAmongPeers,
) {
  let wire: RegistryWire | undefined
  let seenBytes = 0
  let movedAt = clock.now()
  let busyAt = clock.now()
  const wanted = new Map<number, Pieces>()
  const receivedAt = new WeakMap<Wire, number>()
  torrent.on('wire', (peer: Wire) => {
    const note = () => receivedAt.set(peer, clock.now())
    note()
    peer.on('have', note)
  })

  function poll() {
    const bytes = bytesFromPeers()
    if (bytes !== seenBytes) movedAt = clock.now()
    seenBytes = bytes
    if (!wire) return
    const offered = new Set(findOffered())
    wire.offerOnly((index) => offered.has(index))
  }

  function findOffered(): number[] {
    const now = clock.now()
    const missing = [...wanted.values()].flatMap(listPieces).filter(isMissing)
    const peers = listPeers(torrent)
    const nowhere = missing.filter((index) => !peers.some((peer) => peer.peerPieces.get(index)))
    if (nowhere.length === missing.length) movedAt = now
    if (now - movedAt > peerTimeoutMs) return missing
    const pullers = listPullers().map(({ peerId: id = '' }) => id)
    const ranked = nowhere.map((index) => ({ index, rank: rankFor(index, peerId, pullers) }))
    const own = ranked.filter(({ rank }) => rank === 0)
    if (own.length > 0) busyAt = now
    const isHelping = now - busyAt > helpAfterMs
    const chosen = isHelping ? ranked.toSorted((a, b) => a.rank - b.rank).slice(0, 1) : own
    return chosen.map(({ index }) => index)
  }

  const isMissing = (index: number) => !getInternals(torrent).bitfield.get(index)
  const isPulling = (peer: Wire, now: number) =>
    isShoal(peer.peerId) && now - (receivedAt.get(peer) ?? 0) < pullerTimeoutMs

  function listPullers(): Wire[] {
    const now = clock.now()
    return listPeers(torrent).filter((peer) => isPulling(peer, now))
  }

  return {
    poll,
    /** The peers that are pulling the file with shoal at the moment. */
    listPullers,
    want({ from, to }: Pieces) {
      wanted.set(from, { from, to })
    },
    leave({ from }: Pieces) {
      wanted.delete(from)
    },
    use(urls: string[]) {
      if (urls.length === 0) {
        wire?.destroy()
        wire = undefined
      } else if (!wire || wire.destroyed) {
        const { pieces, pieceLength } = torrent
        wire = new RegistryWire(urls, {
          pieces: pieces.length,
          pieceLength,
          fileSizeBytes,
          network,
          clock,
        })
        torrent.addWebSeed(wire)
      }
    },
  }
}

/** The connected peers other than the registry. */
export const listPeers = ({ wires }: Torrent): Wire[] =>
  wires.filter(({ type }) => type !== 'webSeed')

const listPieces = ({ from, to }: Pieces): number[] =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place)
