import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

/**
 * Records which chunks of a file are known to be good. Bytes become trusted here and nowhere else: whatever their
 * source, their hash is compared in this place.
 */
export interface ChunkLedger {
  /**
   * Compares the SHA-256 of the chunk on disk, in lower-case hexadecimal digits. True: the chunk is trusted, from now
   * on or already. False: the hash is wrong, and the board counts none of the chunk's bytes as written.
   */
  accept(chunk: Chunk, found: string): boolean
  /** By a chunk's index. */
  isTrusted(index: number): boolean
  /** Whether every chunk is trusted. */
  isWhole(): boolean
  /** The index of the first chunk that is not trusted yet; the number of chunks if there is none. */
  frontier(): number
}

/**
 * Creates a ledger without trusted chunks. `onFrontier` is called with the number of bytes before the first untrusted
 * chunk when it grows; `onTrusted` once for each chunk.
 */
export function chunkLedger(
  { chunks, fileSizeBytes, chunkSize }: Manifest,
  board: Board,
  onFrontier: (goodBytes: number) => void,
  onTrusted: (chunk: Chunk) => void = () => undefined,
): ChunkLedger {
  const trusted = new Uint8Array(chunks.length)
  let trustedCount = 0
  let frontier = 0

  return {
    accept(chunk, found) {
      const { index, size, sha256 } = chunk
      if (found !== sha256) {
        Atomics.store(board.written, index, 0)
        return false
      }
      if (trusted[index] === 1) return true
      Atomics.store(board.written, index, size)
      trusted[index] = 1
      trustedCount += 1
      onTrusted(chunk)
      if (index !== frontier) return true
      while (trusted[frontier] === 1) frontier += 1
      onFrontier(Math.min(fileSizeBytes, frontier * chunkSize))
      return true
    },

    isTrusted: (index) => trusted[index] === 1,
    isWhole: () => trustedCount === chunks.length,
    frontier: () => frontier,
  }
}
