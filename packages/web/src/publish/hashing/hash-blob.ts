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
 * The SHA-256 of a file and of its chunks in one pass. WebCrypto hashes a chunk and the disk reads the next one while the whole is
 * hashed here: it is the quickest, but takes only what lies in memory whole. This needs three chunks at a time; what the browser has
 * not collected yet comes on top: 200 MB in Chromium, whatever the size of the file. Calls `onProgress` with the bytes hashed so far.
 * Rejects with a `DOMException` if the file cannot be read.
 */
export async function hashBlob(
  file: Blob,
  onProgress: (hashedBytes: number) => void = () => undefined,
): Promise<ChunkManifest> {
  const fileSizeBytes = file.size
  const count = chunkCount(fileSizeBytes)
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunkHashes = new Uint8Array(count * hashLength)
  // The only chunk of a small file is the file: there is nothing to hash twice.
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

/** The SHA-256 of chunk `index` in lower-case hex. Rejects with a `DOMException` if the file cannot be read. */
export async function hashChunkOfBlob(file: Blob, index: number): Promise<string> {
  const hashBytes = await chunkHasher()
  return toHex(await hashBytes(await readChunk(file, index)))
}

/** No bytes beyond the last chunk. */
async function readChunk(file: Blob, index: number): Promise<Uint8Array<ArrayBuffer>> {
  if (index >= chunkCount(file.size)) return new Uint8Array()
  const { start, size } = chunkRange(index, file.size)
  return new Uint8Array(await file.slice(start, start + size).arrayBuffer())
}

type HashBytes = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>

/** SHA-256 of one chunk after another. Only pages that came by HTTPS or from this machine have WebCrypto, and so do their workers. */
async function chunkHasher(): Promise<HashBytes> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>
  if (subtle) return async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes))
  const hasher = await createSHA256() // one for all chunks: each has memory of its own
  return async (bytes) => hasher.init().update(bytes).digest('binary')
}
