import type { Network } from '@shoal/network/requests'
import type { Torrent } from 'webtorrent'
import { RegistryWire } from './registry-wire.ts'

/** Concurrent pieces requested from the registry. */
export const maxRegistryRequests = 4

/** If peers send nothing for this long, pieces that they have are requested from the registry, too. */
const peerTimeoutMs = 3_000

type RegistryAmongPeers = { network: Network; fileSizeBytes: number; bytesFromPeers(): number }

/** Requests pieces that no peer has from the registry, and the rest if peers deliver nothing. */
export function registryAmongPeers(
  torrent: Torrent,
  { network, fileSizeBytes, bytesFromPeers }: RegistryAmongPeers,
) {
  let wire: RegistryWire | undefined
  let seenBytes = 0
  let movedAt = performance.now()

  function poll() {
    const bytes = bytesFromPeers()
    if (bytes !== seenBytes) movedAt = performance.now()
    seenBytes = bytes
    const areSilent = performance.now() - movedAt > peerTimeoutMs
    const peers = torrent.wires.filter(({ type }) => type !== 'webSeed')
    wire?.offerOnly((index) => areSilent || !peers.some((peer) => peer.peerPieces.get(index)))
  }

  return {
    poll,
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
        })
        torrent.addWebSeed(wire)
      }
    },
  }
}
