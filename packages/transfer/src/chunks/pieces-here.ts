import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

/**
 * Records which torrent pieces of the file are on disk, with their SHA-1, and who sent them. The board knows each chunk
 * up to its first gap; this also knows the pieces after the gap, so that they are not requested again. Pieces are
 * numbered from 0.
 */
export interface PiecesHere {
  /** The index of the chunk that contains the piece; of the first, if it straddles two: such a file uses no swarm. */
  getChunkIndex(piece: number): number
  /** The piece is on disk and has its SHA-1; `by` sent it. */
  add(piece: number, by: string[]): void
  /** Bytes of a chunk that are on disk without a gap, from its start. */
  countPrefixBytes(chunk: Chunk): number
  /**
   * The first gap of a chunk whose first `from` bytes are on disk, up to the next piece on disk: in bytes of the chunk.
   * Empty at its end.
   */
  findGap(chunk: Chunk, from: number): { from: number; to: number }
  /** Bytes on disk that the board does not count. */
  looseBytes(): number
  /** The senders of the chunk's pieces, each once. */
  listSenders(chunk: Chunk): string[]
  /** A chunk that turned out bad has to be fetched again completely. */
  forget(chunk: Chunk): void
}

type Layout = {
  manifest: Manifest
  /** Bytes of every piece but the last. */
  pieceLength: number
  board: Board
  /** The chunk's bytes on disk have the wrong hash. */
  onForget?: (chunk: Chunk) => void
}

/** Starts without any pieces. */
export function piecesHere({ manifest, pieceLength, board, onForget }: Layout): PiecesHere {
  const { fileSizeBytes, chunkSize } = manifest
  const here = new Uint8Array(Math.ceil(fileSizeBytes / pieceLength))
  /** By chunk. */
  const senders = new Map<number, Set<string>>()

  const isHereAt = (at: number) => here[Math.floor(at / pieceLength)] === 1
  /** The first byte after the piece that contains `at`. */
  const pieceEnd = (at: number) =>
    Math.min(fileSizeBytes, (Math.floor(at / pieceLength) + 1) * pieceLength)

  /** Advances from `from`, in bytes of the chunk, while pieces are on disk or while they are not. */
  function skip({ start, size }: Chunk, from: number, whileHere: boolean): number {
    let at = start + from
    while (at < start + size && isHereAt(at) === whileHere) at = pieceEnd(at)
    return Math.min(at - start, size) // of a chunk that ends within a piece
  }

  return {
    getChunkIndex: (piece) => Math.floor((piece * pieceLength) / chunkSize),

    add(piece, by) {
      here[piece] = 1
      const chunk = this.getChunkIndex(piece)
      senders.set(chunk, new Set([...(senders.get(chunk) ?? []), ...by]))
    },

    countPrefixBytes: (chunk) => skip(chunk, 0, true),

    findGap(chunk, from) {
      const start = skip(chunk, from, true)
      return { from: start, to: skip(chunk, start, false) }
    },

    looseBytes() {
      let bytes = 0
      for (const piece of here.keys()) {
        if (here[piece] !== 1) continue
        const chunk = this.getChunkIndex(piece)
        const known = chunk * chunkSize + Atomics.load(board.written, chunk)
        const start = piece * pieceLength
        bytes += Math.max(0, pieceEnd(start) - Math.max(start, known))
      }
      return bytes
    },

    listSenders: ({ index }) => [...(senders.get(index) ?? [])],

    forget(chunk) {
      const first = Math.floor(chunk.start / pieceLength)
      here.fill(0, first, Math.ceil((chunk.start + chunk.size) / pieceLength))
      senders.delete(chunk.index)
      onForget?.(chunk)
    },
  }
}
