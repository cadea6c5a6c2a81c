import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type ChunkManifest, hashFileInWorker, manifestOf } from '@shoal/model-file'
import { directNetwork, type NetworkSettings } from '@shoal/network'
import {
  ApiError,
  type MissingChunk,
  type ModelFile,
  NetworkError,
  type RegistryClient,
} from '@shoal/protocol/client'
import { BytesRefusedError, FileChangedError, RefusedFileError } from '../errors.ts'
import type { PushEvent } from '../events.ts'
import { patientClient } from '../patient-client.ts'
import { progressMeter } from '../progress-meter.ts'
import { listMissing } from './list-missing.ts'
import { untilProcessed } from './until-processed.ts'

export type PushOptions = {
  client: RegistryClient
  /** The model's name (its slug) or id. The model is there already. */
  modelName: string
  path: string
  /** The name under which the registry lists it. Default: the path's last part. */
  filename?: string | undefined
  /** Requests at a time. Default 5. */
  connections?: number | undefined
  /** Bytes per second, over all connections. */
  rateLimit?: number | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PushEvent) => void) | undefined
  /** Fail when nothing has got through for so long. Default: the network's. */
  giveUpMs?: number | undefined
  /** Default: straight to the registry. */
  network?: NetworkSettings | undefined
}

/** The registry may find chunks wrong in its store and ask for them again. */
const mostRounds = 4

/** Uploads one file, and resolves when the registry serves it. Stopped in any way, the next call goes on from there. */
export async function pushFile(options: PushOptions): Promise<ModelFile> {
  const { modelName, path, network = directNetwork } = options
  const filename = options.filename ?? basename(path)
  const signal = options.signal ?? new AbortController().signal
  const report = options.onEvent ?? (() => undefined)
  const giveUpMs = options.giveUpMs ?? network.timeouts.giveUpMs
  const client = patientClient(options.client, { giveUpMs, report })

  const before = await stat(path)
  const hashes = await hashFileInWorker(path, {
    signal,
    onProgress: (bytesDone, bytesTotal) => report({ type: 'hashing', bytesDone, bytesTotal }),
  })
  const manifest = manifestOf(hashes)
  const push = { ...options, client, network, giveUpMs, filename, manifest, signal, report }
  const existing = await findSame(push)
  const sent = existing ?? (await send(push, before.mtimeMs))
  report({ type: 'done' })
  return sent

  /** The same file, where the registry has it whole already. */
  async function findSame({ manifest: { sha256_hash } }: Push) {
    const files = await client.listFiles(modelName, { status: 'all' }, signal)
    const same = files.find(
      (file) => file.filename === filename && file.sha256_hash === sha256_hash,
    )
    if (same?.status === 'ready') return same
    if (same?.status !== 'processing') return undefined
    const processed = await untilProcessed(push, same)
    return processed.status === 'ready' ? processed : undefined
  }
}

export type Push = Omit<PushOptions, 'onEvent'> & {
  filename: string
  network: NetworkSettings
  giveUpMs: number
  manifest: ChunkManifest
  signal: AbortSignal
  report: (event: PushEvent) => void
}

async function send(push: Push, mtimeMs: number): Promise<ModelFile> {
  const { client, modelName, path, filename, manifest, signal, report } = push
  const { file_size_bytes: fileSizeBytes, chunk_size: chunkSize } = manifest
  // Loaded late: undici costs 60 ms and 27 MB that a pull in this process would pay too.
  const { sendMissing } = await import('./send-missing.ts')
  const { upload, ...file } = await client.startUpload(modelName, { filename, ...manifest }, signal)
  const meter = progressMeter(fileSizeBytes)
  let missing = await listMissing(push, file.id, upload)
  const bytesThere = fileSizeBytes - missing.reduce((sum, { size }) => sum + size, 0)
  if (bytesThere > 0) report({ type: 'resumed', bytes: bytesThere })

  for (let round = 1; ; round += 1) {
    await sendMissing({
      path,
      chunkSize,
      fileSizeBytes,
      missing,
      renew: (chunk) => renew(push, file.id, chunk),
      connections: Math.max(1, push.connections ?? 5),
      rateLimit: push.rateLimit,
      giveUpMs: push.giveUpMs,
      network: push.network,
      meter,
      signal,
      report,
    })
    const after = await stat(path)
    if (after.size !== fileSizeBytes || after.mtimeMs !== mtimeMs) throw new FileChangedError(path)
    const processed = await complete(push, file.id)
    if (processed?.status === 'ready') return processed
    if (processed !== undefined && processed.status !== 'uploading') {
      throw new RefusedFileError(`${filename}: ${processed.status_detail ?? processed.status}`)
    }
    if (round === mostRounds) {
      throw new BytesRefusedError(`chunks of ${filename} are missing after ${round} rounds`, 409)
    }
    missing = await listMissing(push, file.id)
  }
}

/** The processed file, or undefined where chunks turned out to be missing. */
async function complete(push: Push, fileId: string): Promise<ModelFile | undefined> {
  const { client, modelName, signal } = push
  try {
    const file = await client.completeUpload(modelName, fileId, signal)
    return await untilProcessed(push, file)
  } catch (error) {
    const isMissing = error instanceof ApiError && error.problem.missing_count !== undefined
    if (isMissing) return undefined
    const file = error instanceof NetworkError ? await lookAt(push, fileId) : undefined
    if (file === undefined || file.status === 'uploading') throw error
    return await untilProcessed(push, file)
  }
}

/** The file, where its registry answers: the call that was lost may have done its work. */
async function lookAt({ client, modelName, signal }: Push, fileId: string) {
  const once = client.with({ retry: { firstContactMs: 0, giveUpMs: 0 } })
  return await once.getFile(modelName, fileId, signal).catch((error: unknown) => {
    if (error instanceof NetworkError) return undefined
    throw error
  })
}

async function renew({ client, modelName, signal }: Push, fileId: string, chunk: MissingChunk) {
  const from = { from: chunk.index, limit: 1 }
  const { missing_chunks } = await client.getUpload(modelName, fileId, from, signal)
  return missing_chunks.find(({ index }) => index === chunk.index)
}
