import { unpackHashes } from '@shoal/model-file'
import { LRUCache } from 'lru-cache'
import type { BlobRepository } from '../rows/blob-repository.ts'

export interface Manifests {
  /**
   * The JSON text of a file's chunk hashes. The text is cached in memory, since it never changes.
   * @throws not-found if the bytes are no longer stored
   */
  get(file: { blob_hash: string; file_size_bytes: number }): Promise<Buffer>
}

/** Enough for about 30 of the largest files: each chunk takes about 100 bytes, and a file has at most 10,000 chunks. */
const maxKeptBytes = 32 * 1024 * 1024

export function keepManifests(blobs: Pick<BlobRepository, 'getChunkHashes'>): Manifests {
  const kept = new LRUCache<string, Buffer>({
    maxSize: maxKeptBytes,
    sizeCalculation: (text) => text.length,
  })
  return {
    async get({ blob_hash, file_size_bytes }) {
      const known = kept.get(blob_hash)
      if (known) return known
      const hashes = await blobs.getChunkHashes(blob_hash)
      const text = Buffer.from(JSON.stringify(unpackHashes(hashes, file_size_bytes)))
      kept.set(blob_hash, text)
      return text
    },
  }
}
