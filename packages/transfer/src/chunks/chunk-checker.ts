import type { Chunk } from './manifest.ts'

/** Reads back what is on disk. */
export type ChunkChecker = {
  /**
   * The SHA-256, in lower-case hexadecimal digits, of the chunk's bytes in the file. If the file ends within the chunk,
   * that of the bytes up to there. Rejects if the file cannot be read.
   */
  check(chunk: Chunk): Promise<string>
}
