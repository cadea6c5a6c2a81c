import { ApiError, type ModelFile } from '@shoal/protocol/client'
import { bytesRefused, fileRefused } from '../errors.ts'
import { listMissing } from './list-missing.ts'
import type { BlobPush } from './push-options.ts'
import { sendMissing } from './send-missing.ts'
import { untilProcessed } from './until-processed.ts'

/** The registry may find chunks wrong in its store and ask for them again. */
const maxRounds = 4

/**
 * Uploads one file whose hashes are known, and resolves when the registry serves it. Stopped in any way, the next call goes on from there.
 * Every call and every chunk is repeated as the retrier says: to the registry, a repeated call is the same as the first.
 * @example
 * import { openAsBlob } from 'node:fs'
 * import { hashFileInWorker, makeManifest } from '@shoal/model-file'
 * import { createRetrier, type PushPort, pushBlob } from '@shoal/transfer/push'
 *
 * const manifest = makeManifest(await hashFileInWorker('tide-q2.gguf'))
 * const blob = await openAsBlob('tide-q2.gguf')
 * const port: PushPort = {
 *   connections: 4,
 *   async putChunk({ index, size, url }, { signal, onSent }) {
 *     const start = index * manifest.chunk_size
 *     const body = blob.slice(start, start + size)
 *     const { ok, status } = await fetch(url, { method: 'PUT', body, signal })
 *     if (!ok) throw new Error(`chunk ${index}: status ${status}`)
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
  // One place retries: the retrier knows of all requests of the push.
  const client = given.client.with({ retry: { firstContactMs: 0, giveUpMs: 0 }, maxWaits: 0 })
  const push = { ...given, client }
  return (await findSame(push)) ?? (await upload(push))
}

/** The same file, where an earlier push or somebody else has brought it to its end. */
async function findSame(push: BlobPush): Promise<ModelFile | undefined> {
  const { client, modelName, filename, manifest, retrier, signal, report } = push
  const files = await retrier.call(() => client.listFiles(modelName, { status: 'all' }, signal))
  const same = files.find(
    (file) => file.filename === filename && file.sha256_hash === manifest.sha256_hash,
  )
  if (same?.status === 'ready') return same
  if (same?.status !== 'processing') return undefined
  report({ type: 'started', fileId: same.id })
  const processed = await untilProcessed(push, same)
  return processed.status === 'ready' ? processed : undefined
}

async function upload(push: BlobPush): Promise<ModelFile> {
  const { client, modelName, filename, manifest, port, retrier, signal, report } = push
  const newFile = { filename, ...manifest }
  const started = await retrier.call(() => client.startUpload(modelName, newFile, signal))
  const { id: fileId } = started
  report({ type: 'started', fileId })
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
      throw bytesRefused(`chunks of ${filename} are missing after ${round} rounds`, 409)
    }
    missing = await listMissing(push, fileId)
  }
}

/** The processed file, or undefined where chunks turned out to be missing. */
async function complete(push: BlobPush, fileId: string): Promise<ModelFile | undefined> {
  const { client, modelName, retrier, signal } = push
  try {
    const file = await retrier.call(() => completeOnce(push, fileId))
    return await untilProcessed(push, file)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    if (error.problem.missing_count !== undefined) return undefined
    // The first answer may have been lost: then the file says why it failed.
    const file = await retrier.call(() => client.getFile(modelName, fileId, signal))
    if (file.status !== 'failed') throw error
    return file
  }
}

/** Where the answer is lost, the file tells whether the registry has heard the call. */
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
