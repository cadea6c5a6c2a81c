/**
 * The store of model files' bytes. An object is written once, chunk by chunk, under an opaque key, and does not change
 * afterward, unless it is reopened to replace bad chunks. The database records what each key refers to.
 */
import type { FileHashes } from '@shoal/model-file'

export type ByteRange = { start: number; size: number }

/** How an upload is divided into chunks; the last chunk may be smaller. */
export type ChunkLayout = { sizeBytes: number; chunkSize: number }

/**
 * Refers to an upload, or to the object that the upload has become. `uploadId` is the ID that `startUpload` returned.
 * It is null before that call, and for stores that do not use IDs.
 */
export type UploadReference = { key: string; uploadId: string | null }

/** The hashes in the manifest of an upload. */
export type DeclaredHashes = Pick<FileHashes, 'sha256_hash' | 'chunkHashes'>

export type PresignedRequest = { url: string; headers: Record<string, string> }

/**
 * An entry of `list`: a finished object, an upload with `sizeBytes` reserved, or the remains of an upload after a
 * crash.
 */
export type StoredEntry = {
  key: string
  isUpload: boolean
  sizeBytes: number
  /** The upload's ID, if the store uses IDs. */
  uploadId?: string
  /** When the entry was created, according to the store's clock. Set only by stores that several nodes can write to. */
  createdAt?: Date
}

/** How much space the store has, in bytes. */
export type StoreSpace = {
  freeBytes: number
  /** The space that uploads must leave free. */
  reserveBytes: number
  /** The part of open uploads that has not been received yet. */
  awaitedBytes: number
}

export type ObjectStore = {
  /**
   * Reserves space for a new object until it is finished or removed. The call can be repeated, and a repeated call is
   * never refused. Returns the upload's ID: the given one if the store still has that upload, otherwise a new one, or
   * null if the store does not use IDs.
   * @throws `storage_full` if the object does not fit into the space that other reservations and the reserve leave
   */
  startUpload(upload: UploadReference, layout: ChunkLayout): Promise<string | null>
  /** Discards the upload with this ID and its chunks. Keeps the object and its other uploads. */
  abortUpload(upload: UploadReference): Promise<void>
  /** Returns the indexes of the stored chunks. If the object is finished, these are the indexes of all chunks. */
  listStoredChunks(upload: UploadReference, layout: ChunkLayout): Promise<Set<number>>
  /** Returns a request that sends one chunk. The request is valid until `expiresAt` or the end of the upload. */
  presignChunkUpload(
    upload: UploadReference,
    chunk: { index: number; hash: string } & ByteRange,
    expiresAt: Date,
  ): PresignedRequest
  /**
   * Completes the upload and makes the object readable. The call can be repeated. Throws not-found if neither the
   * upload nor the object exists.
   */
  finishUpload(upload: UploadReference, layout: ChunkLayout): Promise<void>
  /** Turns a finished object back into an upload in which these chunks are missing. Returns the upload's ID. */
  reopenUpload(key: string, layout: ChunkLayout, badChunks: number[]): Promise<string | null>

  /**
   * Yields the bytes of a finished object, in order. A yielded buffer is valid only until the next one is requested.
   * Throws if the object does not exist or ends early.
   */
  read(key: string, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array>
  /** Returns a URL that gives anyone access to the object, or to one range of the object, until the URL expires. */
  presignRead(
    key: string,
    options: { filename: string; expiresInSeconds: number; part?: ByteRange & { index: number } },
  ): string

  /** Whether a finished object of this size exists; its bytes are not checked. */
  hasObject(key: string, sizeBytes: number): Promise<boolean>
  /**
   * Returns the hashes of a finished object, computed from the stored bytes. If the store has compared each chunk with
   * the hash in its presigned URL, and the SHA-256 of the whole object equals the declared one, the declared chunk
   * hashes may be returned instead of being computed again.
   */
  hash(
    key: string,
    sizeBytes: number,
    options?: { declared?: DeclaredHashes; signal?: AbortSignal | undefined },
  ): Promise<FileHashes>

  /** Deletes an object and its uploads. Does nothing if there are none. */
  remove(key: string): Promise<void>
  /** Returns how much space the store has, or `unlimited` if the store grows as needed. */
  space(): Promise<StoreSpace | 'unlimited'>
  /** Yields all objects and uploads, for garbage collection. */
  list(): AsyncGenerator<StoredEntry>
  /**
   * Returns the identity of the registry that the store belongs to, as written by `writeIdentity`, or undefined if none
   * was written.
   */
  readIdentity(): Promise<string | undefined>
  /** Durably writes the identity of the registry that the store belongs to, replacing any earlier identity. */
  writeIdentity(identity: string): Promise<void>
  /** Throws if the store does not work. A full store does not count as broken, because it can still be read. */
  check(): Promise<void>
  /** Ends threads and closes files and connections. */
  close(): Promise<void>
}
