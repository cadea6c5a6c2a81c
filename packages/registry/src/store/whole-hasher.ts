import { createHash } from 'node:crypto'
import {
  chunkSizeFor,
  createSegmentHasher,
  type FileHashes,
  pieceLengthFor,
  type StreamHasher,
} from '@shoal/model-file'

/** All hashes of a file except those of its chunks. */
export type WholeHashes = Omit<FileHashes, 'chunkHashes'>

export function createWholeHasher(fileSizeBytes: number): StreamHasher<WholeHashes> {
  const whole = createHash('sha256')
  const pieceLength = pieceLengthFor(fileSizeBytes)
  const pieces = createSegmentHasher('sha1', pieceLength)
  return {
    update(bytes) {
      whole.update(bytes)
      pieces.update(bytes)
    },
    digest: () => ({
      fileSizeBytes,
      sha256_hash: whole.digest('hex'),
      chunkSize: chunkSizeFor(fileSizeBytes),
      pieceLength,
      pieceHashes: pieces.digest(),
    }),
  }
}
