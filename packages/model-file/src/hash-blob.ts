import { chunkCount, chunkRange, chunkSizeFor } from './chunk-sizes.ts'
import type { ChunkHashes } from './hash-file.ts'
import { toHex } from './hex.ts'
import { Sha256 } from './sha256.ts'

const hashBytes = 32

/**
 * The SHA-256 of a file and of its chunks in one pass, as a browser has the file. WebCrypto, where it is, hashes a chunk and the disk
 * reads the next one while the whole is hashed here. It needs three chunks at a time; what the browser has not collected yet
 * comes on top: 200 MB in Chromium, whatever the size of the file.
 */
export async function hashBlob(
  file: Blob,
  onProgress: (hashedBytes: number) => void = () => undefined,
): Promise<ChunkHashes> {
  const fileSizeBytes = file.size
  const count = chunkCount(fileSizeBytes)
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunkHashes = new Uint8Array(count * hashBytes)
  // The only chunk of a small file is the file: there is nothing to hash twice.
  const whole = count > 1 ? new Sha256() : undefined
  let bytes = await readChunk(file, 0)
  for (let index = 0; index < count; index += 1) {
    const hashing = Promise.all([hashOf(bytes), readChunk(file, index + 1)])
    whole?.update(bytes)
    const [hash, next] = await hashing
    chunkHashes.set(hash, index * hashBytes)
    onProgress(Math.min(fileSizeBytes, (index + 1) * chunkSize))
    bytes = next
  }
  const sha256_hash = toHex(whole?.digest() ?? chunkHashes)
  return { fileSizeBytes, sha256_hash, chunkSize, chunkHashes }
}

/** The SHA-256 of chunk `index` in lower-case hex: enough to tell one file from another of the same size. */
export async function hashChunkOfBlob(file: Blob, index: number): Promise<string> {
  return toHex(await hashOf(await readChunk(file, index)))
}

/** No bytes beyond the last chunk. */
async function readChunk(file: Blob, index: number): Promise<Uint8Array<ArrayBuffer>> {
  if (index >= chunkCount(file.size)) return new Uint8Array()
  const { start, size } = chunkRange(index, file.size)
  return new Uint8Array(await file.slice(start, start + size).arrayBuffer())
}

/** WebCrypto is there on pages that came by HTTPS or from this machine, alone. */
async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>
  if (subtle === undefined) return new Sha256().update(bytes).digest()
  return new Uint8Array(await subtle.digest('SHA-256', bytes))
}
