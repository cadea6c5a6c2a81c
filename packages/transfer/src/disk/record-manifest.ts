import type { Manifest } from '../chunks/manifest.ts'
import type { LocalFileRecord } from './record.ts'

/** Converts a file's record to the file's manifest. */
export function toManifest(record: LocalFileRecord): Manifest {
  const { chunk_size: chunkSize, file_size_bytes: fileSizeBytes } = record
  const packed = Buffer.from(record.chunk_hashes, 'base64')
  const chunks = Array.from({ length: packed.length / 32 }, (_, index) => {
    const start = index * chunkSize
    const size = Math.min(chunkSize, fileSizeBytes - start)
    return { index, start, size, sha256: packed.toString('hex', index * 32, (index + 1) * 32) }
  })
  return { sha256: record.sha256_hash, fileSizeBytes, chunkSize, chunks }
}
