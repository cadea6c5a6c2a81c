import type { ByteBudget } from './byte-budget.ts'
import type { ChunkWriter } from './chunk-writer.ts'
import type { ObjectReader } from './object-reader.ts'

/**
 * What the routes under `/blobs` need of a store without a server of its own, whose presigned URLs lead back to the
 * registry. A store like S3 serves its URLs itself and is not one.
 */
export interface ServedStore {
  writeChunk: ChunkWriter
  /** What a URL that this store signed allows, or undefined when it allows nothing. */
  verify(method: 'GET' | 'PUT', url: string): URLSearchParams | undefined
  /** A finished object, to be read piece by piece. Throws not-found when it is not there. */
  open(key: string): Promise<ObjectReader>
  /** Bytes of a finished object. Throws not-found when it is not there. */
  getSize(key: string): Promise<number>
  /** Memory for the bytes that this store takes and gives. */
  budget: ByteBudget
}
