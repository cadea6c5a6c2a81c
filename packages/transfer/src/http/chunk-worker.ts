import type { ChunkChecker } from '../chunks/chunk-checker.ts'
import type { Chunk } from '../chunks/manifest.ts'

export type ChunkRequest = {
  url: string
  /** Whether the URL yields the whole file, of which a range is requested, or only the chunk. */
  yields: 'file' | 'chunk'
  fileSizeBytes: number
  chunk: Chunk
  /** Bytes of the chunk that are already on disk. */
  from: number
  /** Up to where it is asked for, in bytes of the chunk. */
  to: number
}

/** Fetches and checks chunks of one partial file, in this thread or in a thread of its own. */
export type ChunkWorker = ChunkChecker & {
  /**
   * Writes what the request yields to the file, and resolves with the SHA-256 of the chunk up to `request.to`. Rejects with a
   * `TransferError` or the signal's reason; nothing is written after that.
   */
  fetch(request: ChunkRequest, signal: AbortSignal): Promise<string>
  /** At once: what is running fails. */
  close(): Promise<void>
}
