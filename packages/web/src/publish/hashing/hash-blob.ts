import {
  type ChunkHash,
  type ChunkManifest,
  chunkCount,
  chunkRange,
  chunkSizeFor,
  makeManifest,
  toHex,
} from '@shoal/model-file/browser'
import { createSHA256, type IHasher } from 'hash-wasm'
import type { PartialHash } from './partial-hash.ts'

const hashLength = 32

type Options = {
  /** The partial result to continue from. The caller must make sure that the file still has the same bytes. */
  from?: PartialHash | undefined
  /**
   * Called after each chunk with the number of bytes hashed so far. `save` returns the partial result; it must be
   * called before the callback returns.
   */
  onProgress?: (hashedBytes: number, save: () => PartialHash | undefined) => void
  /** Called with the hash of each chunk in order, including those that `from` contains. */
  onChunk?: ((chunk: ChunkHash) => void) | undefined
}

/**
 * Computes the SHA-256 of a file and of each of its chunks in one pass. While WebCrypto hashes a chunk, the next chunk
 * is read and this thread updates the hash of the entire file. The hash of the entire file is not computed by
 * WebCrypto, which is faster but cannot hash incrementally. This function needs memory for three chunks, plus garbage
 * that has not been collected yet: 200 MB in Chromium, regardless of the file size. Rejects with a `DOMException` if
 * the file cannot be read.
 */
export async function hashBlob(
  file: Blob,
  { from, onProgress, onChunk }: Options = {},
): Promise<ChunkManifest> {
  const fileSizeBytes = file.size
  const count = chunkCount(fileSizeBytes)
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunkHashes = new Uint8Array(count * hashLength)
  // If a file has only one chunk, the hash of the file equals the hash of the chunk.
  const whole = count > 1 ? await createSHA256() : undefined
  const hashBytes = await chunkHasher()
  const first = from && whole && load(whole, from.state) ? from.chunkHashes.length / hashLength : 0
  if (from && first > 0) chunkHashes.set(from.chunkHashes)
  function reportChunk(index: number) {
    const hash = toHex(chunkHashes.subarray(index * hashLength, (index + 1) * hashLength))
    onChunk?.({ index, hash, size: chunkRange(index, fileSizeBytes).size })
  }
  for (let index = 0; index < first; index += 1) reportChunk(index)
  let bytes = await readChunk(file, first)
  for (let index = first; index < count; index += 1) {
    const hashing = Promise.all([hashBytes(bytes), readChunk(file, index + 1)])
    whole?.update(bytes)
    const [hash, next] = await hashing
    chunkHashes.set(hash, index * hashLength)
    reportChunk(index)
    const bytesDone = Math.min(fileSizeBytes, (index + 1) * chunkSize)
    onProgress?.(bytesDone, () => savePartial(bytesDone, index + 1))
    bytes = next
  }
  const sha256_hash = whole?.digest() ?? toHex(chunkHashes)
  return makeManifest({ fileSizeBytes, sha256_hash, chunkSize, chunkHashes })

  function savePartial(bytesDone: number, chunksDone: number): PartialHash | undefined {
    if (!whole) return undefined
    return {
      bytesDone,
      firstHash: toHex(chunkHashes.subarray(0, hashLength)),
      chunkHashes: chunkHashes.slice(0, chunksDone * hashLength),
      state: whole.save(),
    }
  }
}

/** Loads a saved state. Returns false if it was saved by a version of hash-wasm that uses another format. */
function load(hasher: IHasher, state: Uint8Array): boolean {
  try {
    hasher.load(state)
    return true
  } catch {
    return false
  }
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
 * HTTPS or from localhost, and in the workers of such pages.
 */
async function chunkHasher(): Promise<HashBytes> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>
  if (subtle) return async (bytes) => new Uint8Array(await subtle.digest('SHA-256', bytes))
  const hasher = await createSHA256() // shared by all chunks, because each instance has its own memory
  return async (bytes) => hasher.init().update(bytes).digest('binary')
}
