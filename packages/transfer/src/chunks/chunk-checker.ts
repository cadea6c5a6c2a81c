import type { Chunk } from './manifest.ts'

/** Hashes chunks on disk. */
export type ChunkChecker = {
  /**
   * Resolves with the SHA-256 of the chunk's bytes in the file, in lowercase hexadecimal digits. If the file ends
   * within the chunk, only the bytes up to the end of the file are hashed. Rejects if the file cannot be read.
   */
  check(chunk: Chunk): Promise<string>
}
