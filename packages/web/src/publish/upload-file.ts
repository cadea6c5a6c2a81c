import type { ChunkManifest } from '@shoal/model-file/browser'
import {
  ApiError,
  type MissingChunk,
  type ModelFile,
  type RegistryClient,
  type Upload,
} from '@shoal/protocol/client'
import { type Patience, sleep } from './patience.ts'
import { sendMissing } from './send-missing.ts'

type Order = {
  client: RegistryClient
  modelName: string
  file: File
  manifest: ChunkManifest
  patience: Patience
  signal: AbortSignal
  /** The registry knows of the file from now on. */
  onStarted: (fileId: string) => void
  /** How much of the file the registry has. */
  onSent: (bytes: number) => void
  /** All is sent; the registry looks at it. */
  onChecking: () => void
}

const pageSize = 1000
/** The registry may find chunks wrong in its store and ask for them again. */
const mostRounds = 4
const longestPauseMs = 2000

/** The registry has looked at the file and does not want it. */
export class RefusedFileError extends Error {
  override name = 'RefusedFileError'
}

/** Uploads one file, and resolves when the registry serves it. Stopped in any way, the next call goes on from there. */
export async function uploadFile(order: Order): Promise<void> {
  const { client, modelName, file, manifest, patience, signal } = order
  if (await isThereAlready(order)) return
  const newFile = { filename: file.name, ...manifest }
  const { upload, ...started } = await patience.persist(() =>
    client.startUpload(modelName, newFile, signal),
  )
  order.onStarted(started.id)
  let missing = await listMissing(order, started.id, upload)
  for (let round = 1; ; round += 1) {
    await send(order, started.id, missing)
    order.onChecking()
    const processed = await complete(order, started.id)
    if (processed?.status === 'ready') return
    const reason = processed?.status_detail ?? processed?.status
    if (processed && processed.status !== 'uploading') {
      throw new RefusedFileError(`${file.name}: ${reason}`)
    }
    if (round === mostRounds) {
      throw new RefusedFileError(`${file.name}: the registry keeps asking for the same chunks`)
    }
    missing = await listMissing(order, started.id)
  }
}

/** Whether an earlier visit, or somebody else, has brought these very bytes to their end. */
async function isThereAlready(order: Order): Promise<boolean> {
  const { client, modelName, file, manifest, patience, signal } = order
  const files = await patience.persist(() => client.listFiles(modelName, { status: 'all' }, signal))
  const same = files.find(
    ({ filename, sha256_hash }) => filename === file.name && sha256_hash === manifest.sha256_hash,
  )
  if (same?.status !== 'processing') return same?.status === 'ready'
  order.onStarted(same.id)
  order.onChecking()
  return (await untilProcessed(order, same)).status === 'ready'
}

async function send(order: Order, fileId: string, missing: readonly MissingChunk[]) {
  const { client, modelName, file, manifest, patience, signal, onSent } = order
  const sentOf = new Map<number, number>()
  const bytesBefore = file.size - missing.reduce((sum, { size }) => sum + size, 0)
  onSent(bytesBefore)
  await sendMissing({
    file,
    manifest,
    missing,
    patience,
    signal,
    onSent(index, bytes) {
      sentOf.set(index, bytes)
      onSent([...sentOf.values()].reduce((sum, sent) => sum + sent, bytesBefore))
    },
    async renew({ index }) {
      const page = await patience.persist(() =>
        client.getUpload(modelName, fileId, { from: index, limit: 1 }, signal),
      )
      return page.missing_chunks.find((chunk) => chunk.index === index)
    },
  })
}

/** Every chunk that the registry misses; `first` is the page it gave unasked. */
async function listMissing(order: Order, fileId: string, first?: Upload) {
  const { client, modelName, patience, signal } = order
  const missing = [...(first?.missing_chunks ?? [])]
  const total = first?.missing_count ?? Number.POSITIVE_INFINITY
  while (missing.length < total) {
    const query = { from: (missing.at(-1)?.index ?? -1) + 1, limit: pageSize }
    const page = await patience.persist(() => client.getUpload(modelName, fileId, query, signal))
    missing.push(...page.missing_chunks)
    if (page.missing_chunks.length < pageSize) break
  }
  return missing
}

/** The processed file, or undefined where chunks turned out to be missing. */
async function complete(order: Order, fileId: string): Promise<ModelFile | undefined> {
  const { client, modelName, patience, signal } = order
  try {
    const file = await patience.persist(() => client.completeUpload(modelName, fileId, signal))
    return await untilProcessed(order, file)
  } catch (error) {
    const isMissing = error instanceof ApiError && error.problem.missing_count !== undefined
    if (isMissing) return undefined
    throw error
  }
}

/** The longer it takes, the less often it is asked for. */
async function untilProcessed(order: Order, file: ModelFile): Promise<ModelFile> {
  const { client, modelName, patience, signal } = order
  let current = file
  for (let pauseMs = 150; current.status === 'processing'; pauseMs *= 1.3) {
    await sleep(Math.min(longestPauseMs, pauseMs), signal)
    current = await patience.persist(() => client.getFile(modelName, file.id, signal))
  }
  return current
}
