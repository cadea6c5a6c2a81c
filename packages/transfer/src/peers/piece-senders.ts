import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { registryName, type Sent } from './swarm-messages.ts'
import { failedPiece } from './webtorrent-internals.ts'

/** Records how many bytes of each piece each peer sent. Pieces are numbered from 0. */
export interface Senders {
  /** Records that `name` sent this many bytes of the piece. The number is 0 for bytes that were already on disk. */
  add(index: number, name: string, bytes: number): void
  /**
   * Returns the senders of the piece, and removes them from the record, so that their bytes are not counted twice if
   * the piece is reported again.
   */
  take(index: number): Sent
  /** Number of bytes of all pieces, valid or not, from peers other than the registry. */
  bytesFromPeers(): number
}

/**
 * Watches all connections of `torrent`, and bans a peer that was the only sender of a bad piece. `onBanned` is called
 * with the peer's address and port.
 */
export function watchSenders(torrent: Torrent, onBanned: (peer: string) => void): Senders {
  const sendersByPiece = new Map<number, Map<string, number>>()
  let bytesFromPeers = 0
  const banned = new Set<string>()

  function add(index: number, name: string, bytes: number) {
    const senders = sendersByPiece.get(index) ?? new Map<string, number>()
    sendersByPiece.set(index, senders.set(name, (senders.get(name) ?? 0) + bytes))
  }

  torrent.on('wire', (wire: Wire) => {
    const name = getSenderName(wire)
    if (banned.has(stripPort(name))) return wire.destroy()
    wire.on('piece', (index: number, _offset: number, bytes: Uint8Array) => {
      add(index, name, bytes.length)
      if (name !== registryName) bytesFromPeers += bytes.length
    })
  })
  torrent.on('warning', (warning: Error) => {
    const index = failedPiece(warning)
    if (index === undefined) return
    const senders = [...(sendersByPiece.get(index)?.keys() ?? [])]
    sendersByPiece.delete(index)
    const [only] = senders
    // If a bad piece has several senders, it is unknown which of them sent the bad bytes. The library then fetches the
    // piece again, from one peer at a time.
    if (only === undefined || senders.length > 1 || only === registryName) return
    banned.add(stripPort(only))
    for (const wire of torrent.wires) if (getSenderName(wire) === only) wire.destroy()
    onBanned(only)
  })

  return {
    add,
    take(index) {
      const sent = [...(sendersByPiece.get(index) ?? [])]
      sendersByPiece.delete(index)
      return sent
    },
    bytesFromPeers: () => bytesFromPeers,
  }
}

/** Removes the port from a name, because a banned peer may reconnect from another port. */
const stripPort = (name: string) => name.replace(/:\d+$/, '')

const getSenderName = ({ type, remoteAddress, remotePort }: Wire) =>
  type === 'webSeed' ? registryName : `${remoteAddress}:${remotePort}`
