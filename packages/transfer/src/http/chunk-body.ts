import { createHash } from 'node:crypto'
import type { Board } from '../chunks/board.ts'
import type { Chunk } from '../chunks/manifest.ts'
import { hashPart } from '../disk/hash-part.ts'
import { diskFailure } from '../disk/room.ts'
import { writeAll } from '../disk/write-all.ts'
import type { TransferFailure } from '../failure.ts'

export type ChunkBody = {
  take(bytes: Uint8Array): TransferFailure | undefined
  /** Returns the SHA-256 of the chunk up to `to`; undefined if bytes are missing. */
  finish(): string | undefined
}

/**
 * Hashes a chunk up to `to`: the first `from` bytes are read from disk; the others are hashed and written to the file
 * as they arrive.
 */
export function chunkBody(
  fd: number,
  { written }: Board,
  { chunk, from, to }: { chunk: Chunk; from: number; to: number },
): ChunkBody {
  const hash = createHash('sha256')
  let at = from
  hashPart(fd, hash, chunk.start, from)
  Atomics.store(written, chunk.index, from)

  return {
    take(bytes) {
      if (at + bytes.length > to) {
        return { kind: 'refused', message: `chunk ${chunk.index} has more bytes than requested` }
      }
      hash.update(bytes)
      try {
        // Writes synchronously, because for large files this code runs in a worker thread, where using the thread pool
        // would cost more.
        writeAll(fd, bytes, chunk.start + at)
      } catch (error) {
        return diskFailure(error)
      }
      at += bytes.length
      Atomics.store(written, chunk.index, at)
      return undefined
    },
    finish: () => (at === to ? hash.digest('hex') : undefined),
  }
}
