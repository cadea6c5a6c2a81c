import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

/**
 * Which chunks of a file are known to be good. The one place where bytes become trusted: whoever brought them, from
 * wherever, their hash is compared here and nowhere else.
 */
export interface ChunkLedger {
  /**
   * Takes the SHA-256 of the chunk that is on disk, in small hexadecimal digits. True: the chunk is trusted, from now on or
   * already. False: it should have another, and the board counts none of its bytes as written.
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
 * No chunk is trusted yet. `onFrontier` is called with the bytes before the first chunk that is not trusted, when there are more
 * of them; `onTrusted` once for each chunk.
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
