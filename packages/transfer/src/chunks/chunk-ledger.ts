import type { Board } from './board.ts'
import type { Chunk, Manifest } from './manifest.ts'

export type ChunkLedger = ReturnType<typeof chunkLedger>

/**
 * Which chunks of a file are known to be good. The one place where bytes become trusted: whoever brought them, from
 * wherever, their hash is compared here and nowhere else.
 */
export function chunkLedger(
  { chunks, fileSizeBytes, chunkSize }: Manifest,
  board: Board,
  onFrontier: (goodBytes: number) => void,
  onTrusted: (chunk: Chunk) => void = () => undefined,
) {
  const trusted = new Uint8Array(chunks.length)
  let trustedCount = 0
  let frontier = 0

  return {
    /** Takes the SHA-256 of the chunk that is on disk. False drops the chunk. */
    accept(chunk: Chunk, found: string): boolean {
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

    isTrusted: (index: number) => trusted[index] === 1,
    isWhole: () => trustedCount === chunks.length,
    /** The first chunk that is not trusted yet. */
    frontier: () => frontier,
  }
}
