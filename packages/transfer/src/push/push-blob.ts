import { ApiError, type ModelFile } from '@shoal/protocol/client'
import { bytesRefused, fileRefused } from '../errors.ts'
import { listMissing } from './list-missing.ts'
import type { BlobPush } from './push-options.ts'
import { sendMissing } from './send-missing.ts'
import { untilProcessed } from './until-processed.ts'

/**
 * Maximum number of attempts to complete an upload. The registry may find damaged chunks in its store and request them
 * again.
 */
const maxRounds = 4

/**
 * Uploads one file whose hashes are known, and resolves when the file is ready on the registry. If the upload is
 * stopped, the next call resumes it. `retrier` retries all calls and chunks, which is safe because repeating them has
 * no further effect on the registry.
 * @example
 * import { openAsBlob } from 'node:fs'
 * import { hashFileInWorker, makeManifest } from '@shoal/model-file'
 * import { ApiError, problemIn } from '@shoal/protocol/client'
 * import { createRetrier, type PushPort, pushBlob } from '@shoal/transfer/push'
 *
 * const manifest = makeManifest(await hashFileInWorker('tide-q2.gguf'))
 * const blob = await openAsBlob('tide-q2.gguf')
 * const port: PushPort = {
 *   connections: 4,
 *   async putChunk({ index, size, url }, { signal, onSent }) {
 *     const start = index * manifest.chunk_size
 *     const body = blob.slice(start, start + size)
 *     const answer = await fetch(url, { method: 'PUT', body, signal })
 *     const problem = problemIn(await answer.text())
 *     if (!answer.ok) throw new ApiError(answer.status, problem ?? { detail: `chunk ${index}` })
 *     onSent(size)
 *   },
 *   async checkChunk() {}, // the blob rejects reads if its file has changed
 *   async checkUnchanged() {},
 * }
 * const { signal } = new AbortController()
 * const report = console.log
 * const retrier = createRetrier({ maxWaitMs: 2_000, timeoutMs: 60_000, signal, report })
 * const options = { client, modelName: 'tide', filename: 'tide-q2.gguf', manifest, port }
 * const { id } = await pushBlob({ ...options, retrier, signal, report })
 */
export async function pushBlob(given: BlobPush): Promise<ModelFile> {
  // Only the retrier retries, not the client, because the retrier handles all requests of the push.
  const client = given.client.with({ retry: { firstContactMs: 0, giveUpMs: 0 }, maxWaits: 0 })
  const push = { ...given, client }
  return (await findSame(push)) ?? (await upload(push))
}

/**
 * Returns the file if it is already on the registry, because an earlier push completed it or someone else uploaded it;
 * otherwise undefined. If the registry is still processing it, waits for the result.
 */
async function findSame(push: BlobPush): Promise<ModelFile | undefined> {
  const { client, modelName, filename, manifest, retrier, signal, report } = push
  const files = await retrier.call(() => client.listFiles(modelName, { status: 'all' }, signal))
  const same = files.find(
    (file) => file.filename === filename && file.sha256_hash === manifest.sha256_hash,
  )
  if (same?.status === 'ready') return same
  if (same?.status !== 'processing') return undefined
  report({ type: 'started', fileId: same.id, chunkSize: same.chunk_size })
  const processed = await untilProcessed(push, same)
  return processed.status === 'ready' ? processed : undefined
}

async function upload(push: BlobPush): Promise<ModelFile> {
  const { client, modelName, filename, manifest, port, retrier, signal, report } = push
  const newFile = { filename, ...manifest }
  const started = await retrier.call(() => client.startUpload(modelName, newFile, signal))
  const { id: fileId, chunk_size: chunkSize } = started
  report({ type: 'started', fileId, chunkSize })
  let missing = await listMissing(push, fileId, started.upload)
  const bytesThere = missing.reduce((bytes, { size }) => bytes - size, manifest.file_size_bytes)
  if (bytesThere > 0) report({ type: 'resumed', bytes: bytesThere })

  for (let round = 1; ; round += 1) {
    await sendMissing(push, fileId, missing)
    await port.checkUnchanged()
    const processed = await complete(push, fileId)
    if (processed?.status === 'ready') return processed
    if (processed !== undefined && processed.status !== 'uploading') {
      throw fileRefused(`${filename}: ${processed.status_detail ?? processed.status}`)
    }
    if (round === maxRounds) {
      throw bytesRefused(`chunks of ${filename} are still missing after ${round} attempts`, 409)
    }
    missing = await listMissing(push, fileId)
  }
}

/** Completes the upload. Returns the processed file, or undefined if chunks turned out to be missing. */
async function complete(push: BlobPush, fileId: string): Promise<ModelFile | undefined> {
  const { client, modelName, retrier, signal } = push
  try {
    const file = await retrier.call(() => completeOnce(push, fileId))
    return await untilProcessed(push, file)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    if (error.problem.missing_count !== undefined) return undefined
    // The first response may have been lost. In that case, the file's status shows whether processing failed.
    const file = await retrier.call(() => client.getFile(modelName, fileId, signal))
    if (file.status !== 'failed') throw error
    return file
  }
}

/**
 * Calls `completeUpload` once. If the response is lost, the file's status shows whether the registry received the call.
 */
async function completeOnce(push: BlobPush, fileId: string): Promise<ModelFile> {
  const { client, modelName, signal } = push
  try {
    return await client.completeUpload(modelName, fileId, signal)
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error
    const file = await client.getFile(modelName, fileId, signal)
    if (file.status === 'uploading') throw error
    return file
  }
}
