/** The thread that `hash-in-worker.ts` starts. It reads the file synchronously, and hashes it with OpenSSL. */

import { createHash } from 'node:crypto'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { chunkCount, chunkRange } from './chunk-sizes.ts'
import { createSegmentHasher } from './hash-file.ts'

export type HashWork = {
  path: string
  fileSizeBytes: number
  /** Whether to hash the whole file before taking chunks. */
  isWholeHasher: boolean
  /** One Int32: the index of the next chunk that no thread has taken. */
  nextChunk: SharedArrayBuffer
  /** One Int32: 1 once the hashes are no longer needed. */
  isStopped: SharedArrayBuffer
  /** Receives the 32-byte hash of each chunk. */
  chunkHashes: SharedArrayBuffer
  /** Receives the 20-byte hash of each piece, if pieces are needed. */
  pieces: { length: number; hashes: SharedArrayBuffer } | undefined
}

/**
 * Either the number of bytes hashed since the previous message, or the hash of the whole file. `chunk` is the index of
 * the chunk if the bytes were hashed as a chunk, and undefined if they were hashed as a part of the whole file.
 */
export type HashMessage = { hashedBytes: number; chunk?: number } | { sha256_hash: string }

/**
 * Small enough for the L2 cache, so that hashing the same bytes again, for the pieces, does not read them from main
 * memory.
 */
const buffer = new Uint8Array(1024 * 1024)

function hashFile(work: HashWork): void {
  // If a pipe has replaced the file, opening does not wait for a writer, and reading fails. Windows has no such flag.
  const file = openSync(work.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (work.isWholeHasher) hashWhole(file, work.fileSizeBytes)
    const nextChunk = new Int32Array(work.nextChunk)
    for (;;) {
      const index = Atomics.add(nextChunk, 0, 1)
      if (index >= chunkCount(work.fileSizeBytes)) return
      hashChunk(file, work, index)
    }
  } finally {
    closeSync(file)
  }
}

function hashWhole(file: number, fileSizeBytes: number): void {
  const hash = createHash('sha256')
  for (let index = 0; index < chunkCount(fileSizeBytes); index += 1) {
    const range = chunkRange(index, fileSizeBytes)
    for (const bytes of readRange(file, range)) hash.update(bytes)
    report({ hashedBytes: range.size })
  }
  report({ sha256_hash: hash.digest('hex') })
}

function hashChunk(file: number, work: HashWork, index: number): void {
  const range = chunkRange(index, work.fileSizeBytes)
  const chunk = createHash('sha256')
  const pieces = work.pieces && createSegmentHasher('sha1', work.pieces.length)
  for (const bytes of readRange(file, range)) {
    chunk.update(bytes)
    pieces?.update(bytes)
  }
  new Uint8Array(work.chunkHashes).set(chunk.digest(), index * 32)
  if (work.pieces && pieces) {
    const firstPiece = range.start / work.pieces.length
    new Uint8Array(work.pieces.hashes).set(pieces.digest(), firstPiece * 20)
  }
  report({ hashedBytes: range.size, chunk: index })
}

function* readRange(file: number, { start, size }: { start: number; size: number }) {
  for (let position = start; position < start + size; ) {
    if (Atomics.load(isStopped, 0) === 1) process.exit() // exits only this thread
    const wanted = Math.min(buffer.length, start + size - position)
    const bytesRead = readSync(file, buffer, 0, wanted, position)
    if (bytesRead === 0)
      throw new Error(`the file ended at byte ${position} while it was being hashed`)
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

function report(message: HashMessage): void {
  parentPort?.postMessage(message)
}

const work = workerData as HashWork
const isStopped = new Int32Array(work.isStopped)
hashFile(work)
