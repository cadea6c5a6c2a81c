import type { MissingChunk } from '@shoal/protocol/client'

/**
 * Reads and sends the bytes of one file: from disk with undici in Node, or from a `File` with XMLHttpRequest in a
 * browser.
 */
export interface PushPort {
  /** Maximum number of chunks sent in parallel. */
  readonly connections: number

  /**
   * Sends one chunk to its URL, and resolves once the store has accepted it. Calls `onSent` with the number of the
   * chunk's bytes sent so far. Rejects with:
   * - a `TransferError` if sending the chunk again may help;
   * - an `ApiError` or `bytes_refused` if the chunk is refused;
   * - the signal's reason if the signal is aborted;
   * - any other error if the push cannot continue.
   */
  putChunk(chunk: MissingChunk, options: PutOptions): Promise<void>

  /**
   * Reads a chunk again after it arrived with a wrong hash. Rejects if the file no longer has the bytes that were
   * hashed.
   */
  checkChunk(chunk: MissingChunk): Promise<void>

  /**
   * Rejects if the file was changed or moved since it was hashed. Must be quick, because it is called after each
   * failure and at the end.
   */
  checkUnchanged(): Promise<void>
}

export type PutOptions = { signal: AbortSignal; onSent: (bytesOfChunk: number) => void }
