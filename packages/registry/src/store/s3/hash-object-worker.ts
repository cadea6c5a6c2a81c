/** The thread that `hash-object.ts` starts: it downloads an object and hashes it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { silenceTimer } from '@shoal/core/async'
import { hasCode } from '@shoal/core/errors'
import { createFileHasher, type FileHashes } from '@shoal/model-file'
import { bytesGone } from '../object-reader.ts'
import { createWholeHasher } from '../whole-hasher.ts'

/** If `hasChunks` is false, the chunk hashes are not computed, and `chunkHashes` is empty. */
export type ObjectToHash = { url: string; sizeBytes: number; hasChunks: boolean }

export type HashedObject =
  | { hashes: FileHashes }
  | { failure: 'gone' }
  | { failure: 'unavailable'; detail: string }

/** After this many consecutive attempts without a byte received, the store counts as unavailable. */
const maxFailures = 4
/**
 * Maximum delay before a retry if the last attempt received bytes. The maximum is doubled for each consecutive attempt
 * that received none. The actual delay is a random time between half the maximum and the maximum.
 */
const firstRetryDelayMs = 500
/** Maximum time to wait for the next part of a response. */
const silenceMs = 30_000

async function hashObject({ url, sizeBytes, hasChunks }: ObjectToHash): Promise<HashedObject> {
  const hasher = hasChunks ? createFileHasher(sizeBytes) : createWholeHasher(sizeBytes)
  let hashedBytes = 0
  let failures = 0
  while (hashedBytes < sizeBytes) {
    const before = hashedBytes
    let failure: unknown
    try {
      for await (const bytes of download(url, hashedBytes)) {
        hasher.update(bytes)
        hashedBytes += bytes.byteLength
      }
    } catch (error) {
      if (hasCode(error, 'not_found')) return { failure: 'gone' }
      failure = error
    }
    if (hashedBytes >= sizeBytes) break
    failures = hashedBytes > before ? 0 : failures + 1
    if (failures === maxFailures) return { failure: 'unavailable', detail: String(failure) }
    await sleep(firstRetryDelayMs * 2 ** failures * (0.5 + Math.random() / 2))
  }
  return { hashes: { chunkHashes: new Uint8Array(), ...hasher.digest() } }
}

/** Yields the bytes of an object from `start` on. */
async function* download(url: string, start: number): AsyncGenerator<Uint8Array> {
  const stop = new AbortController()
  const watch = silenceTimer(silenceMs, () => stop.abort(new Error('the response has stalled')))
  try {
    const headers = start > 0 ? { range: `bytes=${start}-` } : undefined
    const response = await fetch(url, { signal: stop.signal, ...(headers && { headers }) })
    if (response.status === 404) throw bytesGone()
    const expected = start > 0 ? 206 : 200
    if (response.status !== expected || !response.body) {
      throw new Error(`the store responded with status ${response.status}`)
    }
    for await (const bytes of response.body) {
      watch.refresh()
      yield bytes
    }
  } finally {
    watch.stop()
    stop.abort()
  }
}

parentPort?.postMessage(await hashObject(workerData as ObjectToHash))
