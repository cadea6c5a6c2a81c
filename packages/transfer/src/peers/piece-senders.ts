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
  const ofPiece = new Map<number, Map<string, number>>()
  let bytesFromPeers = 0
  const banned = new Set<string>()

  function add(index: number, name: string, bytes: number) {
    const senders = ofPiece.get(index) ?? new Map<string, number>()
    ofPiece.set(index, senders.set(name, (senders.get(name) ?? 0) + bytes))
  }

  torrent.on('wire', (wire: Wire) => {
    const name = nameOf(wire)
    if (banned.has(hostOf(name))) return wire.destroy()
    wire.on('piece', (index: number, _offset: number, bytes: Uint8Array) => {
      add(index, name, bytes.length)
      if (name !== registryName) bytesFromPeers += bytes.length
    })
  })
  torrent.on('warning', (warning: Error) => {
    const index = failedPiece(warning)
    if (index === undefined) return
    const senders = [...(ofPiece.get(index)?.keys() ?? [])]
    ofPiece.delete(index)
    const [only] = senders
    // Of several nobody knows who it was: the piece comes again, from one at a time.
    if (only === undefined || senders.length > 1 || only === registryName) return
    banned.add(hostOf(only))
    for (const wire of torrent.wires) if (nameOf(wire) === only) wire.destroy()
    onBanned(only)
  })

  return {
    add,
    take(index) {
      const sent = [...(ofPiece.get(index) ?? [])]
      ofPiece.delete(index)
      return sent
    },
    bytesFromPeers: () => bytesFromPeers,
  }
}

/** A peer comes back from another port. */
const hostOf = (name: string) => name.replace(/:\d+$/, '')

const nameOf = ({ type, remoteAddress, remotePort }: Wire) =>
  type === 'webSeed' ? registryName : `${remoteAddress}:${remotePort}`
