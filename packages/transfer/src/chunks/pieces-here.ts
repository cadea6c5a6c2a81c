import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

export type PiecesHere = ReturnType<typeof piecesHere>

type Layout = {
  manifest: Manifest
  pieceLength: number
  board: Board
  /** The chunk's bytes on disk are not what they should be. */
  onForget?: (chunk: Chunk) => void
}

/**
 * Which torrent pieces of the file are on disk, with their SHA-1, and who sent them. The board knows each chunk up to its first
 * gap; this also knows what lies behind, so that nobody is asked for it again.
 */
export function piecesHere({ manifest, pieceLength, board, onForget }: Layout) {
  const { fileSizeBytes, chunkSize } = manifest
  const here = new Uint8Array(Math.ceil(fileSizeBytes / pieceLength))
  /** By chunk. */
  const senders = new Map<number, Set<string>>()

  const isHereAt = (at: number) => here[Math.floor(at / pieceLength)] === 1
  /** The first byte after the piece in which `at` lies. */
  const pieceEnd = (at: number) =>
    Math.min(fileSizeBytes, (Math.floor(at / pieceLength) + 1) * pieceLength)

  /** Moves from `from` on, in bytes of the chunk, as long as pieces are here or as long as they are not. */
  function skip({ start, size }: Chunk, from: number, whileHere: boolean): number {
    let at = start + from
    while (at < start + size && isHereAt(at) === whileHere) at = pieceEnd(at)
    return Math.min(at - start, size) // of a chunk that ends within a piece
  }

  return {
    /** The chunk in which the piece lies; the first of them, where it straddles two, for which no swarm is joined. */
    chunkOf: (piece: number) => Math.floor((piece * pieceLength) / chunkSize),

    add(piece: number, by: string[]) {
      here[piece] = 1
      const chunk = this.chunkOf(piece)
      senders.set(chunk, new Set([...(senders.get(chunk) ?? []), ...by]))
    },

    /** Bytes of a chunk that are on disk without a gap, from its start. */
    prefixOf: (chunk: Chunk): number => skip(chunk, 0, true),

    /** What is missing first of a chunk whose first `from` bytes are here, up to the next piece that is here. Empty at its end. */
    gapIn(chunk: Chunk, from: number): { from: number; to: number } {
      const start = skip(chunk, from, true)
      return { from: start, to: skip(chunk, start, false) }
    },

    /** Bytes that are on disk beyond what the board tells. */
    looseBytes(): number {
      let bytes = 0
      for (const piece of here.keys()) {
        if (here[piece] !== 1) continue
        const chunk = this.chunkOf(piece)
        const known = chunk * chunkSize + Atomics.load(board.written, chunk)
        const start = piece * pieceLength
        bytes += Math.max(0, pieceEnd(start) - Math.max(start, known))
      }
      return bytes
    },

    sendersOf: ({ index }: Chunk): string[] => [...(senders.get(index) ?? [])],

    /** A chunk that turned out bad is to come again, whole. */
    forget(chunk: Chunk) {
      const first = Math.floor(chunk.start / pieceLength)
      here.fill(0, first, Math.ceil((chunk.start + chunk.size) / pieceLength))
      senders.delete(chunk.index)
      onForget?.(chunk)
    },
  }
}
