/**
 * The sizes of chunks and pieces. These rules never change, because all programs that publish, store or verify files
 * must agree on them. A chunk is one part of an S3 multipart upload, which can have at most 10,000 parts.
 */
import { mebibyte } from '@shoal/core/units'

const smallestChunk = 16 * mebibyte
const maxChunks = 10_000
const smallestPiece = mebibyte
const maxPieceBytes = 16 * mebibyte
const enoughPieces = 2048

/** Size of every chunk except the last: 16 MiB, doubled until the file has at most 10,000 chunks. */
export function chunkSizeFor(fileSizeBytes: number): number {
  let size = smallestChunk
  while (fileSizeBytes > size * maxChunks) size *= 2
  return size
}

/**
 * Size of every torrent piece except the last: 1 MiB, doubled until the file has at most 2,048 pieces (40 KiB of
 * hashes) or the piece length is 16 MiB. The chunk size is a multiple of the piece size, so no piece spans two chunks.
 */
export function pieceLengthFor(fileSizeBytes: number): number {
  let length = smallestPiece
  while (fileSizeBytes > length * enoughPieces && length < maxPieceBytes) length *= 2
  return length
}

export function chunkCount(fileSizeBytes: number): number {
  return Math.ceil(fileSizeBytes / chunkSizeFor(fileSizeBytes))
}

/** Returns the start and the size of chunk `index`, in bytes. Throws RangeError if the file has no such chunk. */
export function chunkRange(index: number, fileSizeBytes: number): { start: number; size: number } {
  if (!Number.isInteger(index) || index < 0 || index >= chunkCount(fileSizeBytes)) {
    throw new RangeError(`a file of ${fileSizeBytes} bytes has no chunk ${index}`)
  }
  const chunkSize = chunkSizeFor(fileSizeBytes)
  const start = index * chunkSize
  return { start, size: Math.min(chunkSize, fileSizeBytes - start) }
}
