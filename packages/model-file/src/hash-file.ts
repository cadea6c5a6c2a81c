import { createHash, type Hash } from 'node:crypto'
import { chunkCount, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'

/** What a {@link ChunkHasher} has found. */
export type ChunkHashes = {
  fileSizeBytes: number
  sha256_hash: string
  chunkSize: number
  /** SHA-256 of each chunk, 32 bytes each, one after another. */
  chunkHashes: Uint8Array
}

export type FileHashes = ChunkHashes & {
  pieceLength: number
  /** SHA-1 of each torrent piece, 20 bytes each, one after another. */
  pieceHashes: Uint8Array
}

/** Takes a file's bytes in order. `digest` throws where they are not as many as were announced. */
export type StreamHasher<Result> = { update(bytes: Uint8Array): void; digest(): Result }

type OnSegment = (index: number, hash: string) => void

/** Hashes every `segmentBytes` of a stream by themselves; the hashes come out one after another. */
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

/** The SHA-256 of a file and of its chunks in one pass: what publishing needs. */
export function createChunkHasher(
  fileSizeBytes: number,
  onChunk?: OnSegment,
): StreamHasher<ChunkHashes> {
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const chunks = createSegmentHasher('sha256', chunkSize, onChunk)
  // The only chunk of a small file is the file: there is nothing to hash twice.
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

/** As {@link createChunkHasher}, and the SHA-1 of the torrent pieces: what the registry needs. */
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
