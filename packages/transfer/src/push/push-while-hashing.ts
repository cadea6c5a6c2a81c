import type { ChunkHash, ChunkManifest } from '@shoal/model-file'
import { ApiError, type MissingChunk, type ModelFile } from '@shoal/protocol/client'
import { type AsyncQueue, asyncQueue } from './async-queue.ts'
import type { SendCount } from './chunk-progress.ts'
import { pushBlob } from './push-blob.ts'
import type { BlobPushEvent, UnhashedPush } from './push-options.ts'
import { sendChunks } from './send-missing.ts'

/**
 * From this size on, sending while hashing is worth the additional requests. A smaller file is hashed in less than a
 * second.
 */
export const minBytesWhileHashing = 128 * 1024 * 1024

/** Maximum number of chunks declared in one call. A low limit lets sending begin sooner. */
const maxDeclared = 64

export type HashingPush = UnhashedPush & {
  sizeBytes: number
  /** The hashes of the chunks as they become known, and finally the complete manifest. */
  hashing: { chunks: AsyncQueue<ChunkHash>; manifest: Promise<ChunkManifest> }
}

/**
 * Uploads one file like `pushBlob`, but begins to send chunks while the file is still being hashed. Waits for the
 * hashes instead if the registry lacks the endpoints for this, or if it has a file with this name or an unfinished
 * upload of other bytes. Rejects if hashing fails. When the returned promise settles, the caller must stop hashing.
 * @example
 * import { openAsBlob } from 'node:fs'
 * import { chunkRange, chunkSizeFor, hashFileInWorker, makeManifest } from '@shoal/model-file'
 * import { ApiError, problemIn } from '@shoal/protocol/client'
 * import { asyncQueue, createRetrier, type PushPort, pushWhileHashing } from '@shoal/transfer/push'
 *
 * const blob = await openAsBlob('tide-q2.gguf')
 * const port: PushPort = {
 *   connections: 4,
 *   async putChunk({ index, size, url }, { signal, onSent }) {
 *     const start = index * chunkSizeFor(blob.size)
 *     const body = blob.slice(start, start + size)
 *     const answer = await fetch(url, { method: 'PUT', body, signal })
 *     const problem = problemIn(await answer.text())
 *     if (!answer.ok) throw new ApiError(answer.status, problem ?? { detail: `chunk ${index}` })
 *     onSent(size)
 *   },
 *   async checkChunk() {}, // the blob rejects reads if its file has changed
 *   async checkUnchanged() {},
 * }
 * const chunks = asyncQueue<{ index: number; hash: string; size: number }>()
 * const hashed = hashFileInWorker('tide-q2.gguf', {
 *   onChunk: (index, hash) => chunks.add({ index, hash, size: chunkRange(index, blob.size).size }),
 * })
 * const hashing = { chunks, manifest: hashed.then(makeManifest) }
 * const { signal } = new AbortController()
 * const report = console.log
 * const retrier = createRetrier({ maxWaitMs: 2_000, timeoutMs: 60_000, signal, report })
 * const options = { client, modelName: 'tide', filename: 'tide-q3.gguf', port, retrier, signal, report }
 * const { status } = await pushWhileHashing({ ...options, sizeBytes: blob.size, hashing })
 */
export async function pushWhileHashing(given: HashingPush): Promise<ModelFile> {
  const { hashing, sizeBytes, ...unhashed } = given
  const { report } = unhashed
  // As in `pushBlob`, only the retrier retries.
  const client = unhashed.client.with({ retry: { firstContactMs: 0, giveUpMs: 0 }, maxWaits: 0 })
  const push = { ...unhashed, client }
  hashing.manifest.then(hashing.chunks.end, hashing.chunks.end)
  const count: SendCount = { bytesHere: 0, bytesSent: 0 }
  const hasStarted = await startEarly({ ...push, hashing, sizeBytes }, count)
  const manifest = await hashing.manifest

  const sentBefore = count.bytesSent
  function follow(event: BlobPushEvent) {
    if (event.type === 'sent') {
      report({ ...event, bytesSent: sentBefore + event.bytesSent })
    } else if (event.type !== 'resumed' || !hasStarted) report(event)
  }
  return pushBlob({ ...push, manifest, report: follow })
}

/**
 * Sends chunks until all hashes are known and all missing chunks have been sent, or until sending early turns out to be
 * impossible or unnecessary. Returns whether an upload was started.
 */
async function startEarly(push: HashingPush, count: SendCount): Promise<boolean> {
  const { client, modelName, filename, sizeBytes, retrier, report } = push
  if (await hasFile(push)) return false
  const stop = new AbortController()
  const signal = AbortSignal.any([push.signal, stop.signal])
  let fileId: string
  try {
    const file = { filename, file_size_bytes: sizeBytes }
    const reserved = await retrier.call(() => client.reserveUpload(modelName, file, signal))
    fileId = reserved.id
    report({ type: 'started', fileId, chunkSize: reserved.chunk_size })
  } catch (error) {
    if (isRefused(error)) return false
    throw error
  }
  const queue = asyncQueue<MissingChunk>()
  const early = { ...push, signal }
  const sending = [
    sendChunks(early, fileId, { take: async () => (await queue.take(1))[0], count }),
    declareChunks(early, fileId, count, queue),
  ]
  try {
    await Promise.all([...sending, stopIfStored(early, fileId, stop)])
  } catch (error) {
    push.signal.throwIfAborted()
    if (!stop.signal.aborted && !isRefused(error)) throw error
  } finally {
    stop.abort(new Error('no more chunks are sent early'))
    queue.end()
    push.hashing.chunks.end()
    await Promise.allSettled(sending)
  }
  return true
}

/** Whether sending early is impossible, because of the registry's version or the state of the upload. */
const isRefused = (error: unknown) =>
  error instanceof ApiError && [404, 405, 409].includes(error.status)

/** Whether the registry has a file with this name that may have the same bytes. */
async function hasFile({ client, modelName, filename, retrier, signal }: HashingPush) {
  const files = await retrier.call(() => client.listFiles(modelName, { status: 'all' }, signal))
  const same = files.find((file) => file.filename === filename)
  return same?.status === 'ready' || same?.status === 'processing'
}

/** Declares hashes as they become known, and queues the chunks that the registry does not have. */
async function declareChunks(
  { client, modelName, hashing, retrier, signal, report }: HashingPush,
  fileId: string,
  count: SendCount,
  queue: AsyncQueue<MissingChunk>,
) {
  for (;;) {
    const chunk_hashes = await hashing.chunks.take(maxDeclared)
    if (chunk_hashes.length === 0) return queue.end()
    const declared = await retrier.call(() =>
      client.declareChunks(modelName, fileId, { chunk_hashes }, signal),
    )
    const missing = new Set(declared.missing_chunks.map(({ index }) => index))
    const bytes = chunk_hashes
      .filter(({ index }) => !missing.has(index))
      .reduce((sum, { size }) => sum + size, 0)
    if (bytes > 0) {
      count.bytesHere += bytes
      report({ type: 'resumed', bytes })
      report({ type: 'sent', ...count })
    }
    queue.add(...declared.missing_chunks)
  }
}

/**
 * Once all hashes are known, declares all of them. Aborts `stop` if the registry then needs no more chunks, either
 * because another of its files has the same bytes or because another client has sent them, or if the registry has
 * started another upload.
 */
async function stopIfStored(
  { client, modelName, filename, hashing, retrier, signal }: HashingPush,
  fileId: string,
  stop: AbortController,
) {
  const manifest = await hashing.manifest
  const started = await retrier.call(() =>
    client.startUpload(modelName, { filename, ...manifest }, signal),
  )
  if (started.id === fileId && started.upload.missing_count > 0) return
  stop.abort(new Error('the registry needs no more chunks'))
}
