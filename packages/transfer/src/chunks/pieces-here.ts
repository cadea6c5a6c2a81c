import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

/**
 * Records which torrent pieces of the file are on disk with the correct SHA-1 hash, and who sent them. The board counts
 * the bytes of a chunk only up to the first gap. The pieces after the gap are recorded here, so that they are not
 * requested again. Pieces are numbered from 0.
 */
export interface PiecesHere {
  /**
   * The index of the chunk that contains the piece, or of the first chunk if the piece spans two. Files with such
   * pieces are not downloaded from peers.
   */
  getChunkIndex(piece: number): number
  /** Records that the piece is on disk and matches its SHA-1, and that the senders in `by` sent it. */
  add(piece: number, by: string[]): void
  /** Number of bytes at the start of a chunk that are on disk without a gap. */
  countPrefixBytes(chunk: Chunk): number
  /**
   * The first gap in a chunk whose first `from` bytes are on disk. The gap ends at the next piece on disk, and is empty
   * if the chunk is complete. Positions are in bytes from the start of the chunk.
   */
  findGap(chunk: Chunk, from: number): { from: number; to: number }
  /** Number of bytes on disk that the board does not count. */
  looseBytes(): number
  /** The senders of the chunk's pieces, without duplicates. */
  listSenders(chunk: Chunk): string[]
  /** Removes all pieces of a bad chunk, which must be fetched again in full. */
  forget(chunk: Chunk): void
}

type Layout = {
  manifest: Manifest
  /** Size of every piece except the last, in bytes. */
  pieceLength: number
  board: Board
  /** Called when a chunk turns out to have the wrong hash. */
  onForget?: (chunk: Chunk) => void
}

/** Creates a record without any pieces. */
export function piecesHere({ manifest, pieceLength, board, onForget }: Layout): PiecesHere {
  const { fileSizeBytes, chunkSize } = manifest
  const here = new Uint8Array(Math.ceil(fileSizeBytes / pieceLength))
  /** The senders of the pieces of each chunk, by chunk index. */
  const senders = new Map<number, Set<string>>()

  const isHereAt = (at: number) => here[Math.floor(at / pieceLength)] === 1
  /** The position just after the piece that contains the byte at `at`. */
  const pieceEnd = (at: number) =>
    Math.min(fileSizeBytes, (Math.floor(at / pieceLength) + 1) * pieceLength)

  /**
   * Advances from `from` while the pieces are on disk or, if `whileHere` is false, while they are missing. Returns the
   * new position. Both positions are counted from the start of the chunk.
   */
  function skip({ start, size }: Chunk, from: number, whileHere: boolean): number {
    let at = start + from
    while (at < start + size && isHereAt(at) === whileHere) at = pieceEnd(at)
    return Math.min(at - start, size) // a chunk may end within a piece
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
