import { createHash, type Hash } from 'node:crypto'
import { chunkCount, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'

/** The result of a hasher created by {@link createChunkHasher}. */
export type ChunkHashes = {
  fileSizeBytes: number
  sha256_hash: string
  chunkSize: number
  /** Concatenated SHA-256 hashes of the chunks, 32 bytes each. */
  chunkHashes: Uint8Array
}

export type FileHashes = ChunkHashes & {
  pieceLength: number
  /** Concatenated SHA-1 hashes of the torrent pieces, 20 bytes each. */
  pieceHashes: Uint8Array
}

/**
 * Hashes bytes that are passed in order. If a hasher was created with a file size, `digest` throws if the number of
 * bytes differs from that size.
 */
export type StreamHasher<Result> = { update(bytes: Uint8Array): void; digest(): Result }

type OnSegment = (index: number, hash: string) => void

/**
 * Returns a hasher that hashes each segment of `segmentBytes` separately. `digest` returns the concatenated hashes.
 * `onSegment` gets each segment's hash, in hexadecimal digits, as soon as the segment has been hashed.
 */
export function createSegmentHasher(
  algorithm: 'sha1' | 'sha256',
  segmentBytes: number,
  onSegment?: OnSegment,
): StreamHasher<Uint8Array> {
  const hashes: Buffer[] = []
  let current: Hash | undefined
  let left = segmentBytes

  function finish(hash: Hash): void {
    const digest = hash.digest()
    onSegment?.(hashes.length, digest.toString('hex'))
    hashes.push(digest)
    current = undefined
    left = segmentBytes
  }

  return {
    update(bytes) {
      for (let offset = 0; offset < bytes.length; ) {
        const part = bytes.subarray(offset, offset + left)
        current ??= createHash(algorithm)
        current.update(part)
        offset += part.length
        left -= part.length
        if (left === 0) finish(current)
      }
    },
    digest() {
      if (current) finish(current)
      return new Uint8Array(Buffer.concat(hashes))
    },
  }
}

/** Returns a hasher that computes the SHA-256 of a file and of its chunks in one pass, for publishing. */
export function createChunkHasher(
  fileSizeBytes: number,
  onChunk?: OnSegment,
): StreamHasher<ChunkHashes> {
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunks = createSegmentHasher('sha256', chunkSize, onChunk)
  // The SHA-256 of a file with one chunk is that of the chunk, so the bytes are not hashed twice.
  const whole = chunkCount(fileSizeBytes) > 1 ? createHash('sha256') : undefined
  let hashedBytes = 0
  return {
    update(bytes) {
      whole?.update(bytes)
      chunks.update(bytes)
      hashedBytes += bytes.length
    },
    digest() {
      if (hashedBytes !== fileSizeBytes) {
        throw new RangeError(`hashed ${hashedBytes} bytes, but the file has ${fileSizeBytes}`)
      }
      const chunkHashes = chunks.digest()
      const sha256_hash = whole?.digest('hex') ?? Buffer.from(chunkHashes).toString('hex')
      return { fileSizeBytes, sha256_hash, chunkSize, chunkHashes }
    },
  }
}

/** Like {@link createChunkHasher}, but also computes the SHA-1 of each torrent piece, for the registry. */
export function createFileHasher(
  fileSizeBytes: number,
  onChunk?: OnSegment,
): StreamHasher<FileHashes> {
  const pieceLength = pieceLengthFor(fileSizeBytes)
  const chunks = createChunkHasher(fileSizeBytes, onChunk)
  const pieces = createSegmentHasher('sha1', pieceLength)
  return {
    update(bytes) {
      chunks.update(bytes)
      pieces.update(bytes)
    },
    digest: () => ({ ...chunks.digest(), pieceLength, pieceHashes: pieces.digest() }),
  }
}
