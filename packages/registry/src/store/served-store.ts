import type { ByteBudget } from './byte-budget.ts'
import type { ChunkWriter } from './chunk-writer.ts'
import type { ObjectReader } from './object-reader.ts'

/**
 * A store without a server of its own: its presigned URLs lead to the registry's routes under `/blobs`, which need this
 * interface. A store like S3 serves its URLs itself and does not implement it.
 */
export interface ServedStore {
  writeChunk: ChunkWriter
  /** The query of a URL that this store has signed, or undefined if the signature is not valid or has expired. */
  verify(method: 'GET' | 'PUT', url: string): URLSearchParams | undefined
  /** Opens a finished object for reading. Throws not-found if it does not exist. */
  open(key: string): Promise<ObjectReader>
  /** The size of a finished object in bytes. Throws not-found if it does not exist. */
  getSize(key: string): Promise<number>
  /** Memory for the bytes that this store receives and sends. */
  budget: ByteBudget
}
