import { chunkCount, chunkRange, chunkSizeFor } from './chunk-sizes.ts'
import type { ChunkHashes } from './hash-file.ts'
import { fromHex, toHex } from './hex.ts'

/** A chunk's index, counted from 0, its SHA-256 in lowercase hexadecimal digits, and its size in bytes. */
export type ChunkHash = { index: number; hash: string; size: number }

/** The hashes and sizes of a file and its chunks, as sent when publishing. The field names are those of the API. */
export type ChunkManifest = {
  file_size_bytes: number
  chunk_size: number
  sha256_hash: string
  chunk_hashes: ChunkHash[]
}

const hashBytes = 32

/** Concatenates the hashes, 32 bytes each. The result is less than a third as long as the chunks in JSON. */
export function packHashes(chunks: readonly ChunkHash[]): Uint8Array {
  const packed = new Uint8Array(chunks.length * hashBytes)
  for (const [place, { hash }] of chunks.entries()) packed.set(fromHex(hash), place * hashBytes)
  return packed
}

/** The inverse of {@link packHashes}. Throws RangeError if the number of hashes does not match the file size. */
export function unpackHashes(packed: Uint8Array, fileSizeBytes: number): ChunkHash[] {
  const count = chunkCount(fileSizeBytes)
  if (packed.length !== count * hashBytes) {
    throw new RangeError(`the chunk hashes have ${packed.length} bytes, not ${count * hashBytes}`)
  }
  const digits = toHex(packed)
  return Array.from({ length: count }, (_, index) => ({
    index,
    hash: digits.slice(index * hashBytes * 2, (index + 1) * hashBytes * 2),
    size: chunkRange(index, fileSizeBytes).size,
  }))
}

/** Converts the result of a hasher into the API's format. */
export function makeManifest(hashes: ChunkHashes): ChunkManifest {
  return {
    file_size_bytes: hashes.fileSizeBytes,
    chunk_size: hashes.chunkSize,
    sha256_hash: hashes.sha256_hash,
    chunk_hashes: unpackHashes(hashes.chunkHashes, hashes.fileSizeBytes),
  }
}

/** Returns a phrase that describes the first inconsistency in a manifest, or undefined if there is none. */
export function manifestProblem(manifest: ChunkManifest): string | undefined {
  const { file_size_bytes: fileSizeBytes, chunk_size: chunkSize, chunk_hashes: chunks } = manifest
  if (!Number.isSafeInteger(fileSizeBytes) || fileSizeBytes < 1) {
    return `file_size_bytes is ${fileSizeBytes}; it must be an integer greater than 0`
  }
  if (chunkSize !== chunkSizeFor(fileSizeBytes)) {
    return `chunk_size is ${chunkSize}; it must be ${chunkSizeFor(fileSizeBytes)} for a file of ${fileSizeBytes} bytes`
  }
  if (!isSha256(manifest.sha256_hash)) return 'sha256_hash is not 64 lowercase hexadecimal digits'
  const count = chunkCount(fileSizeBytes)
  if (chunks.length !== count)
    return `the number of chunk hashes is ${chunks.length}; it must be ${count}`
  for (const [place, chunk] of chunks.entries()) {
    const problem = chunkProblem(chunk, place, fileSizeBytes)
    if (problem !== undefined) return problem
  }
  if (count === 1 && chunks[0]?.hash !== manifest.sha256_hash) {
    return 'the hash of the only chunk is not the hash of the file'
  }
  return undefined
}

function chunkProblem(
  { index, hash, size }: ChunkHash,
  place: number,
  fileSizeBytes: number,
): string | undefined {
  if (index !== place) return `chunk ${index} is at position ${place}`
  const expected = chunkRange(place, fileSizeBytes).size
  if (size !== expected) return `chunk ${index} has ${size} bytes, not ${expected}`
  if (!isSha256(hash)) return `the hash of chunk ${index} is not 64 lowercase hexadecimal digits`
  return undefined
}

function isSha256(hash: string): boolean {
  return /^[0-9a-f]{64}$/.test(hash)
}
