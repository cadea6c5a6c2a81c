import { createHash } from 'node:crypto'
import type { Board } from '../chunks/board.ts'
import type { Chunk } from '../chunks/manifest.ts'
import { hashPart } from '../disk/hash-part.ts'
import { writeAll } from '../disk/write-all.ts'
import { classifyDiskError, type TransferFailure } from '../failure.ts'

export type ChunkBody = {
  take(bytes: Uint8Array): TransferFailure | undefined
  /** The SHA-256 of the chunk up to the last byte that was to come; undefined while bytes are missing. */
  finish(): string | undefined
}

/** Takes a chunk's bytes from `from` to `to` as they arrive: hashes them, and writes them where they belong. */
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
        return { kind: 'refused', message: `chunk ${chunk.index} is longer than it should be` }
      }
      hash.update(bytes)
      try {
        // Blocking is right: where it counts this is a worker thread, and the thread pool's hop costs more.
        writeAll(fd, bytes, chunk.start + at)
      } catch (error) {
        return classifyDiskError(error, `chunk ${chunk.index}`)
      }
      at += bytes.length
      Atomics.store(written, chunk.index, at)
      return undefined
    },
    finish: () => (at === to ? hash.digest('hex') : undefined),
  }
}
