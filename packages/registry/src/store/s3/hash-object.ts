import { once } from 'node:events'
import type { FileHashes } from '@shoal/model-file'
import { startWorker } from '@shoal/threads'
import { unavailable } from '../../errors.ts'
import { bytesGone } from '../object-reader.ts'
import type { DeclaredHashes } from '../object-store.ts'
import type { HashedObject, ObjectToHash } from './hash-object-worker.ts'

/**
 * Hashes an object in a worker thread, which downloads the object itself. `url` must permit GET. If the object's
 * SHA-256 equals that in `known`, the known chunk hashes are returned instead of being computed, which saves almost a
 * third of the CPU time. Rejects with `not_found` if the object does not exist, and with `unavailable` if the store
 * fails.
 */
export async function hashObject(
  object: { url: string; sizeBytes: number },
  known?: DeclaredHashes,
  signal?: AbortSignal,
): Promise<FileHashes> {
  if (known) {
    const hashes = await hashInWorker({ ...object, hasChunks: false }, signal)
    if (hashes.sha256_hash === known.sha256_hash) {
      return { ...hashes, chunkHashes: known.chunkHashes }
    }
  }
  return hashInWorker({ ...object, hasChunks: true }, signal)
}

async function hashInWorker(object: ObjectToHash, signal?: AbortSignal): Promise<FileHashes> {
  signal?.throwIfAborted()
  const worker = startWorker('hash-object-worker', import.meta.url, {
    workerData: object,
    execArgv: [],
  })
  try {
    const [hashed] = (await once(worker, 'message', { signal })) as [HashedObject]
    if ('hashes' in hashed) return hashed.hashes
    if (hashed.failure === 'gone') throw bytesGone()
    throw unavailable(`the S3 store failed while an object was being read: ${hashed.detail}`, {
      retryAfterSeconds: 5,
    })
  } finally {
    await worker.terminate()
  }
}
