/** Hashes the visitor's files in a worker, so that the page stays responsive. */
import type { ChunkHash, ChunkManifest } from '@shoal/model-file/browser'
import { fileChanged } from './file-changed.ts'
import type { HashMessage, HashRequest } from './hash-worker.ts'
import type { PartialHash } from './partial-hash.ts'

type Options = {
  /** The partial result of an earlier call for the same file, from which to continue. */
  from?: PartialHash | undefined
  signal: AbortSignal
  /** Called with the number of bytes hashed so far and, about once a second, with the partial result. */
  onProgress: (bytesDone: number, partial: PartialHash | undefined) => void
  /** Called with the hash of each chunk in order, including those in `from`. */
  onChunk: (chunk: ChunkHash) => void
}

/**
 * Computes the SHA-256 of a file and of each of its chunks. Rejects with `file_changed` if the file cannot be read, or
 * with the abort reason of `signal`.
 */
export function hashFile(
  file: File,
  { from, signal, onProgress, onChunk }: Options,
): Promise<ChunkManifest> {
  return inWorker({ file, from }, signal, (message, done) => {
    if (message.type === 'progress') onProgress(message.bytesDone, message.partial)
    else if (message.type === 'chunk') onChunk(message.chunk)
    else if (message.type === 'hashed') done(message.manifest)
  })
}

/**
 * Computes the SHA-256 of chunk `index` in lowercase hex, which is enough to recognize a file. Rejects with
 * `file_changed` if the file cannot be read.
 */
export function hashChunk(file: File, index: number): Promise<string> {
  return inWorker({ file, chunk: index }, undefined, (message, done) => {
    if (message.type === 'chunk hashed') done(message.hash)
  })
}

/** Starts a worker for one request, and terminates it when the request completes, fails or is aborted. */
function inWorker<Result>(
  options: HashRequest,
  signal: AbortSignal | undefined,
  take: (message: HashMessage, done: (result: Result) => void) => void,
): Promise<Result> {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  const stop = new AbortController()
  return new Promise<Result>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`could not hash the file: ${reason}`))
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal })
    worker.onerror = ({ message }) => fail(message)
    worker.onmessage = ({ data }: MessageEvent<HashMessage>) => {
      if (data.type === 'unreadable') reject(fileChanged(options.file.name))
      else if (data.type === 'failed') fail(data.reason)
      else take(data, resolve)
    }
    worker.postMessage(options)
  }).finally(() => {
    stop.abort()
    worker.terminate()
  })
}
