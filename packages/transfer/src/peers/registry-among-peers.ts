import type { Network } from '@shoal/network/requests'
import type { Torrent } from 'webtorrent'
import { RegistryWire } from './registry-wire.ts'

/** Maximum number of pieces requested from the registry at the same time. */
export const maxRegistryRequests = 4

/** If peers send nothing for this long, the pieces that they have are also requested from the registry. */
const peerTimeoutMs = 3_000

type RegistryAmongPeers = { network: Network; fileSizeBytes: number; bytesFromPeers(): number }

/** Requests from the registry the pieces that no peer has and, if peers deliver nothing, all other pieces, too. */
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
