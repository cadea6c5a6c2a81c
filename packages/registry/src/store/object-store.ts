/**
 * Where the bytes are. An object is written once, chunk by chunk, under an opaque key, and never changes after that. What a
 * key means stands in the database.
 */
import type { FileHashes } from '@shoal/model-file'

export type ByteRange = { start: number; size: number }

/** How the bytes of an upload are cut; the last chunk may be smaller. */
export type ChunkLayout = { sizeBytes: number; chunkSize: number }

export type PresignedRequest = { url: string; headers: Record<string, string> }

/** What `list` finds: a finished object, or an upload with room for `sizeBytes`. */
export type StoredEntry = { key: string; isUpload: boolean; sizeBytes: number }

export type ObjectStore = {
  /** Makes room for a new object. Repeating it is harmless. */
  startUpload(key: string, layout: ChunkLayout): Promise<void>
  /** The indexes of the chunks that have come. */
  listStoredChunks(key: string, layout: ChunkLayout): Promise<Set<number>>
  /** A request that sends one chunk, and dies at `expiresAt` or with the upload. */
  presignChunkUpload(
    key: string,
    chunk: { index: number; hash: string } & ByteRange,
    expiresAt: Date,
  ): PresignedRequest
  /** Closes the upload and makes the object readable. Repeating it is harmless. Throws not-found when there is neither. */
  finishUpload(key: string, layout: ChunkLayout): Promise<void>
  /** Opens a finished object again, without these chunks. */
  reopenUpload(key: string, layout: ChunkLayout, badChunks: number[]): Promise<void>

  /**
   * The bytes of a finished object, in order. A yielded buffer is only valid until the next one is asked for.
   * Throws when the object is not there or ends early.
   */
  read(key: string, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array>
  /** A URL that yields the object, or one range of it, to whoever has it, for so many seconds. */
  presignRead(
    key: string,
    options: { filename: string; expiresInSeconds: number; part?: ByteRange & { index: number } },
  ): string

  /** Whether a finished object is there with so many bytes; not whether they are right. */
  hasObject(key: string, sizeBytes: number): Promise<boolean>
  /** The hashes of a finished object, from the bytes as they are stored now. */
  hash(key: string, sizeBytes: number, signal?: AbortSignal): Promise<FileHashes>

  /** Deletes an object or an upload. Harmless when it is not there. */
  remove(key: string): Promise<void>
  /** Every object and upload, for the garbage collection. */
  list(): AsyncGenerator<StoredEntry>
  /** Which registry these bytes belong to, as `writeIdentity` noted it; undefined for a store that has no such note. */
  readIdentity(): Promise<string | undefined>
  /** Notes durably which registry these bytes belong to, in place of an earlier note. */
  writeIdentity(identity: string): Promise<void>
  /** Throws when bytes can be neither read nor written now. */
  check(): Promise<void>
}
