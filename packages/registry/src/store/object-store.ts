/**
 * The store of model files' bytes. An object is written once, chunk by chunk, under an opaque key, and then never
 * changes. The database records what each key is.
 */
import type { FileHashes } from '@shoal/model-file'

export type ByteRange = { start: number; size: number }

/** How an upload is divided into chunks; the last one may be smaller. */
export type ChunkLayout = { sizeBytes: number; chunkSize: number }

export type PresignedRequest = { url: string; headers: Record<string, string> }

/** An entry of `list`: a finished object, or an upload with `sizeBytes` reserved, or what a crash left of one. */
export type StoredEntry = { key: string; isUpload: boolean; sizeBytes: number }

/** The capacity of the store, in bytes. */
export type StoreSpace = {
  freeBytes: number
  /** What uploads must leave free. */
  reserveBytes: number
  /** What open uploads have not received yet. */
  awaitedBytes: number
}

export type ObjectStore = {
  /**
   * Reserves space for a new object until it is finished or removed. Can be repeated, and is then never refused.
   * @throws `storage_full` if it does not fit next to other reservations and the reserve
   */
  startUpload(key: string, layout: ChunkLayout): Promise<void>
  /** The indexes of the stored chunks: all of them once the object is finished, whatever its status in the database. */
  listStoredChunks(key: string, layout: ChunkLayout): Promise<Set<number>>
  /** A request that sends one chunk, valid until `expiresAt` or the end of the upload. */
  presignChunkUpload(
    key: string,
    chunk: { index: number; hash: string } & ByteRange,
    expiresAt: Date,
  ): PresignedRequest
  /** Completes the upload and makes the object readable. Can be repeated. Throws not-found if neither exists. */
  finishUpload(key: string, layout: ChunkLayout): Promise<void>
  /** Turns a finished object back into an upload in which these chunks are missing. */
  reopenUpload(key: string, layout: ChunkLayout, badChunks: number[]): Promise<void>

  /**
   * The bytes of a finished object, in order. A yielded buffer is only valid until the next one is requested. Throws if
   * the object does not exist or ends early.
   */
  read(key: string, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array>
  /** A URL that gives anyone access to the object or one range of it until it expires. */
  presignRead(
    key: string,
    options: { filename: string; expiresInSeconds: number; part?: ByteRange & { index: number } },
  ): string

  /** Whether a finished object of this size exists; its bytes are not checked. */
  hasObject(key: string, sizeBytes: number): Promise<boolean>
  /** The hashes of a finished object, computed from the stored bytes. */
  hash(key: string, sizeBytes: number, signal?: AbortSignal): Promise<FileHashes>

  /** Deletes an object or an upload. Does nothing if it does not exist. */
  remove(key: string): Promise<void>
  /** The space in the store; `unlimited` if it grows as needed. */
  space(): Promise<StoreSpace | 'unlimited'>
  /** Every object and upload, for garbage collection. */
  list(): AsyncGenerator<StoredEntry>
  /** The registry that the store belongs to, as written by `writeIdentity`; undefined if nothing was written. */
  readIdentity(): Promise<string | undefined>
  /** Records durably which registry the store belongs to, replacing an earlier record. */
  writeIdentity(identity: string): Promise<void>
  /** Throws if the store does not work. A full store does not throw: it can be read. */
  check(): Promise<void>
}
