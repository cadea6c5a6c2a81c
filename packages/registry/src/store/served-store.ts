import type { ByteBudget } from './byte-budget.ts'
import type { ChunkWriter } from './chunk-writer.ts'
import type { ObjectReader } from './object-reader.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'

/**
 * The part of a store that the registry's routes under `/blobs` use. If a store does not have its own server, all its
 * presigned URLs point to these routes. Otherwise, only URLs for requests that the store's server does not support
 * point to them.
 */
export interface ServedStore {
  /**
   * The origin of the store's server, to which all presigned URLs point except those for the registry's routes.
   * Undefined if the store does not have its own server.
   */
  ownOrigin: string | undefined
  /** Receives a chunk. Undefined if clients send chunks to the store's server. */
  writeChunk: ChunkWriter | undefined
  /**
   * Returns the query of a URL that this store has signed, or undefined if the signature is not valid or has expired.
   */
  verify(method: 'GET' | 'PUT', url: string): URLSearchParams | undefined
  /**
   * Opens a finished object to read this range. If the object does not exist, either this call or the first read throws
   * not-found. When `signal` is aborted, reads that are waiting for a server fail.
   */
  open(key: string, range: ByteRange, signal?: AbortSignal): Promise<ObjectReader>
  /** Returns the size of a finished object in bytes. Throws not-found if the object does not exist. */
  getSize(key: string): Promise<number>
  /** Memory for the bytes that this store receives and sends. */
  budget: ByteBudget
}

/** A store with everything that a registry needs. */
export type RegistryStore = ObjectStore & ServedStore
