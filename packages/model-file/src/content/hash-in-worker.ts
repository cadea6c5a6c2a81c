import { once } from 'node:events'
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { startWorker } from '@shoal/threads'
import { chunkCount, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'
import {
  type ChunkHashes,
  createChunkHasher,
  createFileHasher,
  type FileHashes,
  type StreamHasher,
} from './hash-file.ts'
import type { HashMessage, HashWork } from './hash-worker.ts'

export type HashOptions = {
  signal?: AbortSignal
  /** Called with the number of bytes hashed so far, which never decreases. The last call passes the file size. */
  onProgress?: (hashedBytes: number, fileSizeBytes: number) => void
  /**
   * Called with each chunk's index and SHA-256, in lowercase hexadecimal digits, as soon as the chunk has been hashed.
   * The chunks arrive roughly in order. The hashing may still fail later because the file has changed.
   */
  onChunk?: (index: number, hash: string) => void
}

/** Hashing a block of this size does not noticeably delay other work of this thread. */
const blockBytes = 256 * 1024

/**
 * Hashes a local file like `createChunkHasher`, but in threads. The hash of the whole file cannot be parallelized, so
 * one thread computes it while another hashes the chunks; when the first thread has finished, it helps with the
 * remaining chunks. With two free cores, this takes no longer than computing only the whole-file hash. A file with only
 * one chunk is hashed in this thread, in small blocks, because starting a thread would take longer. Rejects if the file
 * is empty or not a regular file, if it changes during hashing, or if the signal is aborted.
 */
export async function hashFileInWorker(
  path: string,
  options: HashOptions = {},
): Promise<ChunkHashes> {
  const fileSizeBytes = await readSize(path)
  if (chunkCount(fileSizeBytes) === 1) {
    return hashHere(path, createChunkHasher(fileSizeBytes, options.onChunk), options)
  }
  return hashInThreads({ path, fileSizeBytes, pieces: undefined, threads: 2 }, options)
}

/** Like {@link hashFileInWorker}, but also computes the SHA-1 of each torrent piece, as `createFileHasher` does. */
export async function hashFileWithPiecesInWorker(
  path: string,
  options: HashOptions = {},
): Promise<FileHashes> {
  const fileSizeBytes = await readSize(path)
  if (chunkCount(fileSizeBytes) === 1) {
    return hashHere(path, createFileHasher(fileSizeBytes, options.onChunk), options)
  }
  const length = pieceLengthFor(fileSizeBytes)
  const hashes = new SharedArrayBuffer(Math.ceil(fileSizeBytes / length) * 20)
  const pieces = { length, hashes }
  const found = await hashInThreads({ path, fileSizeBytes, pieces, threads: 3 }, options)
  return { ...found, pieceLength: length, pieceHashes: new Uint8Array(hashes).slice() }
}

async function hashHere<Result>(
  path: string,
  hasher: StreamHasher<Result>,
  { signal, onProgress }: HashOptions,
): Promise<Result> {
  signal?.throwIfAborted()
  const before = await stat(path)
  let hashedBytes = 0
  // As in hash-worker.ts, opening does not wait if a pipe has replaced the file.
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const options = { highWaterMark: blockBytes, autoClose: false, ...(signal && { signal }) }
  for await (const bytes of file.createReadStream(options)) {
    hasher.update(bytes)
    hashedBytes += bytes.length
    onProgress?.(Math.min(hashedBytes, before.size), before.size)
  }
  await refuseChanged(path, before)
  return hasher.digest()
}

async function refuseChanged(path: string, before: { size: number; mtimeMs: number }) {
  const after = await stat(path)
  if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
    throw new Error(`${path} changed while it was being hashed`)
  }
}

type Job = Pick<HashWork, 'path' | 'fileSizeBytes' | 'pieces'> & { threads: number }

async function hashInThreads(
  { threads, ...job }: Job,
  { signal, onProgress, onChunk }: HashOptions,
): Promise<ChunkHashes> {
  const { path, fileSizeBytes } = job
  signal?.throwIfAborted()
  const before = await stat(path)
  const chunks = chunkCount(fileSizeBytes)
  const chunkHashes = new SharedArrayBuffer(chunks * 32)
  const isStopped = new SharedArrayBuffer(4)
  const work = { ...job, nextChunk: new SharedArrayBuffer(4), isStopped, chunkHashes }

  let sha256_hash = ''
  let hashedBytes = 0
  const onMessage = (message: HashMessage) => {
    if ('sha256_hash' in message) sha256_hash = message.sha256_hash
    else {
      const { chunk } = message
      if (chunk !== undefined) onChunk?.(chunk, readHash(chunkHashes, chunk))
      hashedBytes += message.hashedBytes
      onProgress?.(Math.floor(hashedBytes / 2), fileSizeBytes)
    }
  }

  const workers = Array.from({ length: Math.min(threads, availableParallelism()) }, (_, index) =>
    startHasher({ ...work, isWholeHasher: index === 0 }).on('message', onMessage),
  )
  const ended = Promise.allSettled(workers.map((worker) => once(worker, 'exit')))
  try {
    await Promise.all(workers.map((worker) => once(worker, 'exit', { signal })))
  } finally {
    Atomics.store(new Int32Array(isStopped), 0, 1)
    await ended
  }
  await refuseChanged(path, { ...before, size: fileSizeBytes })
  const packed = new Uint8Array(chunkHashes).slice()
  return {
    fileSizeBytes,
    sha256_hash,
    chunkSize: chunkSizeFor(fileSizeBytes),
    chunkHashes: packed,
  }
}

const readHash = (hashes: SharedArrayBuffer, index: number) =>
  Buffer.from(hashes, index * 32, 32).toString('hex')

function startHasher(work: HashWork) {
  return startWorker('hash-worker', import.meta.url, {
    workerData: work,
    execArgv: [], // do not pass on the parent's flags, because threads reject some of them, such as --input-type
  })
}

async function readSize(path: string): Promise<number> {
  const found = await stat(path)
  if (!found.isFile()) throw new Error(`${path} is not a file`)
  const { size } = found
  if (size === 0) throw new Error(`${path} is empty`)
  return size
}
