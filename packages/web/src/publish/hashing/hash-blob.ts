import {
  type ChunkManifest,
  chunkCount,
  chunkRange,
  chunkSizeFor,
  makeManifest,
  toHex,
} from '@shoal/model-file/browser'
import { createSHA256 } from 'hash-wasm'

const hashLength = 32

/**
 * Computes the SHA-256 of a file and of each of its chunks in one pass. While WebCrypto hashes a chunk, the next chunk
 * is read and this thread updates the hash of the entire file. That hash is not computed by WebCrypto, which is faster
 * but cannot hash incrementally. This function needs memory for three chunks, plus garbage that has not been collected
 * yet: 200 MB in Chromium, regardless of the file size. Calls `onProgress` with the bytes hashed so far. Rejects with a
 * `DOMException` if the file cannot be read.
 */
export async function hashBlob(
  file: Blob,
  onProgress: (hashedBytes: number) => void = () => undefined,
): Promise<ChunkManifest> {
  const fileSizeBytes = file.size
  const count = chunkCount(fileSizeBytes)
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunkHashes = new Uint8Array(count * hashLength)
  // If a file has only one chunk, the hash of the file equals the hash of the chunk.
  const whole = count > 1 ? await createSHA256() : undefined
  const hashBytes = await chunkHasher()
  let bytes = await readChunk(file, 0)
  for (let index = 0; index < count; index += 1) {
    const hashing = Promise.all([hashBytes(bytes), readChunk(file, index + 1)])
    whole?.update(bytes)
    const [hash, next] = await hashing
    chunkHashes.set(hash, index * hashLength)
    onProgress(Math.min(fileSizeBytes, (index + 1) * chunkSize))
    bytes = next
  }
  const sha256_hash = whole?.digest() ?? toHex(chunkHashes)
  return makeManifest({ fileSizeBytes, sha256_hash, chunkSize, chunkHashes })
}

/** Computes the SHA-256 of chunk `index` in lowercase hex. Rejects with a `DOMException` if the file cannot be read. */
export async function hashChunkOfBlob(file: Blob, index: number): Promise<string> {
  const hashBytes = await chunkHasher()
  return toHex(await hashBytes(await readChunk(file, index)))
}

/** Reads a chunk. Returns an empty array if `index` is after the last chunk. */
async function readChunk(file: Blob, index: number): Promise<Uint8Array<ArrayBuffer>> {
  if (index >= chunkCount(file.size)) return new Uint8Array()
  const { start, size } = chunkRange(index, file.size)
  return new Uint8Array(await file.slice(start, start + size).arrayBuffer())
}

type HashBytes = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>

/**
 * Returns a function that hashes one chunk at a time. It uses WebCrypto if available, that is, on pages loaded over
 * HTTPS or from localhost and in their workers.
 */
async function chunkHasher(): Promise<HashBytes> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>
  if (subtle) return async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes))
  const hasher = await createSHA256() // shared by all chunks, because each instance has its own memory
  return async (bytes) => hasher.init().update(bytes).digest('binary')
}
