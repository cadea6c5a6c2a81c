import type { ChunkChecker } from '../chunks/chunk-checker.ts'
import type { Chunk } from '../chunks/manifest.ts'

export type ChunkRequest = {
  url: string
  /** `file`: the URL returns the whole file, so a range is requested. `chunk`: the URL returns only the chunk. */
  yields: 'file' | 'chunk'
  fileSizeBytes: number
  chunk: Chunk
  /** Number of bytes at the start of the chunk that are already on disk. */
  from: number
  /** End of the requested bytes, counted from the start of the chunk. */
  to: number
}

/** Downloads and verifies chunks of one partial file, in this thread or in a worker thread. */
export type ChunkWorker = ChunkChecker & {
  /**
   * Writes the requested bytes to the file, and resolves with the SHA-256 of the chunk up to
   * `request.to`. Rejects with a `TransferError` or the signal's reason; nothing is written after
   * that.
   */
  fetch(request: ChunkRequest, signal: AbortSignal): Promise<string>
  /** Closes immediately: requests in progress fail. */
  close(): Promise<void>
}
