import type Wire from 'bittorrent-protocol'
import type { Torrent } from 'webtorrent'
import { registryName, type Sent } from './swarm-messages.ts'
import { failedPiece } from './webtorrent-internals.ts'

/** Who sent what of each piece. Pieces are numbered from 0. */
export interface Senders {
  /** `name` sent so many bytes of the piece: 0 for what was here already. */
  add(index: number, name: string, bytes: number): void
  /** The senders of the piece. Told once, so that a piece that is told twice does not count twice. */
  take(index: number): Sent
  /** Of all pieces, good or not, by others than the registry. */
  bytesFromPeers(): number
}

/** Watches all connections of `torrent`, and cuts off who sent what was not the piece: `onBanned` gets its address and port. */
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
    // Of several nobody knows who it was: the piece comes again, from one at a time.
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

/** A peer comes back from another port. */
const stripPort = (name: string) => name.replace(/:\d+$/, '')

const getSenderName = ({ type, remoteAddress, remotePort }: Wire) =>
  type === 'webSeed' ? registryName : `${remoteAddress}:${remotePort}`
