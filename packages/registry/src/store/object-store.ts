/**
 * Where the bytes are. An object is written once, chunk by chunk, under an opaque key, and never changes after that. What a
 * key means stands in the database.
 */
import type { FileHashes } from '@shoal/model-file'

export type ByteRange = { start: number; size: number }

/** How the bytes of an upload are cut; the last chunk may be smaller. */
export type ChunkLayout = { sizeBytes: number; chunkSize: number }

export type PresignedRequest = { url: string; headers: Record<string, string> }

/** What `list` finds: a finished object, or an upload with room for `sizeBytes` or, after a crash, what is left of one. */
export type StoredEntry = { key: string; isUpload: boolean; sizeBytes: number }

/** Bytes, of what the store can hold. */
export type StoreSpace = {
  freeBytes: number
  /** What uploads leave free. */
  reserveBytes: number
  /** What open uploads have still to receive. */
  awaitedBytes: number
}

export type ObjectStore = {
  /**
   * Makes room for a new object, and keeps it until the object is finished or removed. Repeating it is harmless, and never refused.
   * @throws `storage_full` when it does not fit beside what is kept for others and for the reserve
   */
  startUpload(key: string, layout: ChunkLayout): Promise<void>
  /** The indexes of the chunks that have come: all of them once the object is finished, whatever the database says of it. */
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
  /** How much room there is; `unlimited` for a store that grows as needed. */
  space(): Promise<StoreSpace | 'unlimited'>
  /** Every object and upload, for the garbage collection. */
  list(): AsyncGenerator<StoredEntry>
  /** Which registry these bytes belong to, as `writeIdentity` noted it; undefined for a store that has no such note. */
  readIdentity(): Promise<string | undefined>
  /** Notes durably which registry these bytes belong to, in place of an earlier note. */
  writeIdentity(identity: string): Promise<void>
  /** Throws when the store does not work now. One that is full works: what it holds can be read. */
  check(): Promise<void>
}
