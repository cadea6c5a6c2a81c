import { createHash, type Hash } from 'node:crypto'
import { chunkCount, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'

/** The result of a {@link ChunkHasher}. */
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

/** Takes the bytes of a file in order. `digest` throws if their number differs from the declared size. */
export type StreamHasher<Result> = { update(bytes: Uint8Array): void; digest(): Result }

type OnSegment = (index: number, hash: string) => void

/** Hashes each `segmentBytes` of a stream separately and returns the concatenated hashes. */
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

/** Computes the SHA-256 of a file and of its chunks in one pass, for publishing. */
export function createChunkHasher(
  fileSizeBytes: number,
  onChunk?: OnSegment,
): StreamHasher<ChunkHashes> {
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunks = createSegmentHasher('sha256', chunkSize, onChunk)
  // A one-chunk file has the hash of its chunk, so it is not hashed twice.
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
        throw new RangeError(`hashed ${hashedBytes} bytes of a file of ${fileSizeBytes}`)
      }
      const chunkHashes = chunks.digest()
      const sha256_hash = whole?.digest('hex') ?? Buffer.from(chunkHashes).toString('hex')
      return { fileSizeBytes, sha256_hash, chunkSize, chunkHashes }
    },
  }
}

/** Like {@link createChunkHasher}, plus the SHA-1 of the torrent pieces, for the registry. */
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
