import type { MissingChunk } from '@shoal/protocol/client'

/** How the engine reaches the bytes of one file and sends them: by undici from a disk in Node, by XMLHttpRequest from a `File` in a browser. */
export interface PushPort {
  /** How many chunks are sent at a time. */
  readonly connections: number

  /**
   * Sends one chunk to its URL and resolves when the store has taken it. Calls `onSent` with how many of its bytes went out so far.
   * Rejects with a `TransferError` where sending it again may help, with an `ApiError` or `bytes_refused` where the chunk is refused,
   * with the signal's reason, and with any other error where the push cannot go on.
   */
  putChunk(chunk: MissingChunk, options: PutOptions): Promise<void>

  /** Reads a chunk that arrived with another hash once more, and throws if the file no longer has the bytes that were hashed. */
  checkChunk(chunk: MissingChunk): Promise<void>

  /** Throws if the file was changed or moved since it was hashed. Quick: it is asked after each trouble and at the end. */
  checkUnchanged(): Promise<void>
}

export type PutOptions = { signal: AbortSignal; onSent: (bytesOfChunk: number) => void }
