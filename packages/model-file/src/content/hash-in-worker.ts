import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { startWorker } from '@shoal/threads'
import { chunkCount, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'
import type { ChunkHashes, FileHashes } from './hash-file.ts'
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

/**
 * Hashes a local file like `createChunkHasher`, but in threads. The hash of the whole file cannot be parallelized, so
 * one thread computes it while another hashes the chunks; when the first thread has finished, it helps with the
 * remaining chunks. With two free cores, this takes no longer than computing only the whole-file hash. Rejects if the
 * file is empty or not a regular file, if it changes during hashing, or if the signal is aborted.
 */
export async function hashFileInWorker(
  path: string,
  options: HashOptions = {},
): Promise<ChunkHashes> {
  const fileSizeBytes = await readSize(path)
  return hashInThreads({ path, fileSizeBytes, pieces: undefined, threads: 2 }, options)
}

/** Like {@link hashFileInWorker}, but also computes the SHA-1 of each torrent piece, as `createFileHasher` does. */
export async function hashFileWithPiecesInWorker(
  path: string,
  options: HashOptions = {},
): Promise<FileHashes> {
  const fileSizeBytes = await readSize(path)
  const length = pieceLengthFor(fileSizeBytes)
  const hashes = new SharedArrayBuffer(Math.ceil(fileSizeBytes / length) * 20)
  const pieces = { length, hashes }
  const found = await hashInThreads({ path, fileSizeBytes, pieces, threads: 3 }, options)
  return { ...found, pieceLength: length, pieceHashes: new Uint8Array(hashes).slice() }
}

type Job = Pick<HashWork, 'path' | 'fileSizeBytes' | 'pieces'> & { threads: number }

async function hashInThreads(
  { threads, ...job }: Job,
  { signal, onProgress, onChunk }: HashOptions,
): Promise<ChunkHashes> {
  const { path, fileSizeBytes } = job
  signal?.throwIfAborted()
  const { mtimeMs } = await stat(path)
  const chunks = chunkCount(fileSizeBytes)
  const chunkHashes = new SharedArrayBuffer(chunks * 32)
  const isStopped = new SharedArrayBuffer(4)
  const work = { ...job, nextChunk: new SharedArrayBuffer(4), isStopped, chunkHashes }

  let sha256_hash: string | undefined
  let hashedBytes = 0
  const passes = chunks > 1 ? 2 : 1
  const onMessage = (message: HashMessage) => {
    if ('sha256_hash' in message) sha256_hash = message.sha256_hash
    else {
      const { chunk } = message
      if (chunk !== undefined) onChunk?.(chunk, readHash(chunkHashes, chunk))
      hashedBytes += message.hashedBytes
      onProgress?.(Math.floor(hashedBytes / passes), fileSizeBytes)
    }
  }

  const threadCount = chunks > 1 ? Math.min(threads, availableParallelism()) : 1
  const workers = Array.from({ length: threadCount }, (_, index) =>
    // A file with one chunk needs no whole-file hasher, because its SHA-256 is that of the chunk.
    startHasher({ ...work, isWholeHasher: index === 0 && chunks > 1 }).on('message', onMessage),
  )
  const ended = Promise.allSettled(workers.map((worker) => once(worker, 'exit')))
  try {
    await Promise.all(workers.map((worker) => once(worker, 'exit', { signal })))
  } finally {
    Atomics.store(new Int32Array(isStopped), 0, 1)
    await ended
  }
  const after = await stat(path)
  if (after.size !== fileSizeBytes || after.mtimeMs !== mtimeMs) {
    throw new Error(`${path} changed while it was being hashed`)
  }
  const packed = new Uint8Array(chunkHashes).slice()
  return {
    fileSizeBytes,
    sha256_hash: sha256_hash ?? Buffer.from(packed).toString('hex'),
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
