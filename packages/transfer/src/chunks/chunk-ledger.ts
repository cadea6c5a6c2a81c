import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

/**
 * Records which chunks of a file are trusted. This is the only place where chunks become trusted: every chunk's hash is
 * compared with the manifest here, whatever the chunk's source.
 */
export interface ChunkLedger {
  /**
   * Compares `found`, the SHA-256 of the chunk on disk in lowercase hexadecimal digits, with the manifest. If the
   * hashes match, the chunk is trusted, and the result is true. Otherwise, the board counts none of the chunk's bytes
   * as written, and the result is false.
   */
  accept(chunk: Chunk, found: string): boolean
  /** Whether the chunk with this index is trusted. */
  isTrusted(index: number): boolean
  /** Whether every chunk is trusted. */
  isWhole(): boolean
  /** The index of the first chunk that is not trusted yet; the number of chunks if all are trusted. */
  frontier(): number
}

/**
 * Creates a ledger without trusted chunks. `onFrontier` is called with the number of bytes before the first untrusted
 * chunk whenever that number grows. `onTrusted` is called for each chunk when it becomes trusted.
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
