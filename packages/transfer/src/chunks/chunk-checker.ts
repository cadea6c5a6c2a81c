import type { Chunk } from './manifest.ts'

/** Reads back what is on disk. */
export type ChunkChecker = {
  /**
   * The SHA-256, in small hexadecimal digits, of what the file holds in the chunk's place. If the file ends within the chunk, it
   * is that of the bytes up to there. Rejects if the file cannot be read.
   */
  check(chunk: Chunk): Promise<string>
}
