import { hasCode } from '@shoal/core/errors'
import type { ChunkHash, ChunkManifest } from '@shoal/model-file/browser'
import { type Connection, clientOver } from '@shoal/protocol/client'
import {
  type AsyncQueue,
  asyncQueue,
  type BlobPushEvent,
  createRetrier,
  minBytesWhileHashing,
  pushBlob,
  pushTogether,
  pushWhileHashing,
} from '@shoal/transfer/push'
import { hashFile } from '../hashing/hash-file.ts'
import { connections, filePort } from '../sending/file-port.ts'
import { bytesHashed, type Job, type JobFile, type Sources, unfinished } from './job.ts'
import { ensureModel } from './open-model.ts'
import type { Stage } from './progress-share.ts'
import { formatReason, isOffline, type UploadWait } from './wait.ts'

export { progressMeter } from '@shoal/transfer/push'
export { dropJob, dropNewModel } from './drop-job.ts'
export { withProgress } from './with-progress.ts'

export type JobEvent =
  | { type: 'file'; filename: string; stage: Stage; bytesDone: number }
  /** Number of bytes sent since the last `sent` event, including bytes that must be sent again. */
  | { type: 'sent'; bytes: number }
  /** The upload is waiting for a retry. `wait` becomes undefined when the upload continues. */
  | { type: 'wait'; wait: UploadWait | undefined }

/**
 * Maximum time between retries. It is longer than in the CLI, because the upload has no timeout and the visitor may be
 * away for days.
 */
const maxWaitMs = 30_000

export type Run = {
  connection: Connection
  job: Job
  sources: Sources
  signal: AbortSignal
  report: (event: JobEvent) => void
  /** Saves the current state of the job, so that the visitor can resume it later. */
  keep: (job: Job) => void
}

/**
 * Publishes a job's files, small ones at the same time. A large file is sent while it is being hashed, and while a file is
 * being sent, the next files are hashed. If the registry refuses a file, the other files are still published, and the first
 * refusal is thrown at the end.
 */
export async function runJob({ sources, signal, report, ...run }: Run): Promise<void> {
  const client = clientOver(run.connection.with({ maxWaits: 0 })) // the retrier waits instead, and reports the wait
  const { modelName } = run.job
  const files = unfinished(run.job)
  const stop = new AbortController()
  const ending = AbortSignal.any([signal, stop.signal])
  const retrier = createRetrier({
    maxWaitMs,
    timeoutMs: Number.POSITIVE_INFINITY,
    signal: ending,
    host: location.host,
    isOffline,
    onMoving: () => report({ type: 'wait', wait: undefined }),
    report: ({ seconds }, failure) =>
      report({
        type: 'wait',
        wait: { until: Date.now() + seconds * 1000, reason: formatReason(failure) },
      }),
  })
  addEventListener('online', retrier.wake, { signal: ending })
  let job = run.job

  function note(filename: string, changes: Partial<JobFile>) {
    const isIt = (file: JobFile) => file.filename === filename
    job = { ...job, files: job.files.map((one) => (isIt(one) ? { ...one, ...changes } : one)) }
    run.keep(job)
  }

  async function hash(file: JobFile, chunks: AsyncQueue<ChunkHash>): Promise<ChunkManifest> {
    const { filename, sizeBytes, manifest, partial } = file
    if (manifest) return manifest
    const sendReport = (bytesDone: number) =>
      report({ type: 'file', filename, stage: 'hashing', bytesDone })
    sendReport(bytesHashed(file))
    const found = await hashFile(findSource(sources, filename), {
      from: partial,
      signal: ending,
      onChunk: chunks.add,
      onProgress(bytesDone, soFar) {
        sendReport(bytesDone)
        if (soFar) note(filename, { partial: soFar })
      },
    })
    sendReport(sizeBytes)
    note(filename, { manifest: found, partial: undefined })
    return found
  }

  async function upload(
    { filename, sizeBytes, manifest: known }: JobFile,
    { hashing, onSent }: { hashing: Hashing; onSent: () => void },
  ) {
    const sendReport = (stage: Stage, bytesDone: number) =>
      report({ type: 'file', filename, stage, bytesDone })
    let bytesSent = 0
    let chunkSize = 0
    function follow(event: BlobPushEvent) {
      if (event.type === 'started') {
        chunkSize = event.chunkSize
        note(filename, { fileId: event.fileId })
      } else if (event.type === 'processing') {
        onSent()
        sendReport('checking', sizeBytes)
      } else if (event.type === 'sent') {
        report({ type: 'sent', bytes: Math.max(0, event.bytesSent - bytesSent) })
        bytesSent = event.bytesSent
        sendReport('sending', event.bytesHere)
      }
    }
    const port = filePort(findSource(sources, filename), () => chunkSize)
    const push = { client, modelName, filename, port, retrier, signal: ending, report: follow }
    if (!known && sizeBytes >= minBytesWhileHashing) {
      await pushWhileHashing({ ...push, sizeBytes, hashing })
    } else {
      const manifest = await hashing.manifest
      sendReport('sending', 0)
      await pushBlob({ ...push, manifest })
    }
    sendReport('ready', sizeBytes)
    note(filename, { isReady: true })
  }

  /** Ends the pushes of all files, and stops hashing, because the push of one file has failed. */
  function endWith(error: unknown): never {
    stop.abort(error)
    throw error
  }

  try {
    const { newModel } = run.job
    if (newModel) await retrier.call(() => ensureModel(client, newModel))
    const fed = files.map((file) => ({ file, chunks: asyncQueue<ChunkHash>() }))
    const manifests = oneAfterAnother(fed, ({ file, chunks }) => hash(file, chunks))
    const hashed = manifests.map((manifest, place) => {
      const { file, chunks } = fed[place] as (typeof fed)[number]
      return { ...file, hashing: { chunks, manifest } }
    })
    const refusals = await pushTogether(hashed, {
      connections,
      async push({ hashing, ...file }, onSent) {
        const refusal = await findRefusal(upload(file, { hashing, onSent })).catch(endWith)
        const { filename, sizeBytes } = file
        if (refusal) report({ type: 'file', filename, stage: 'refused', bytesDone: sizeBytes })
        return refusal
      },
    })
    const [first] = refusals.filter((refusal) => refusal !== undefined)
    if (first) throw first
  } finally {
    stop.abort(new Error('the job is over'))
  }
}

/** The hashes of a file: those of its chunks as they are computed, and the complete manifest. */
type Hashing = { chunks: AsyncQueue<ChunkHash>; manifest: Promise<ChunkManifest> }

async function findRefusal(uploading: Promise<void>): Promise<Error | undefined> {
  try {
    await uploading
  } catch (error) {
    if (hasCode(error, 'file_refused', 'bytes_refused')) return error
    throw error
  }
  return undefined
}

/** Processes the items one after another, even if the caller does not await the results yet. */
function oneAfterAnother<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R>[] {
  let previous: Promise<unknown> = Promise.resolve()
  return items.map((item) => {
    const result = previous.then(() => act(item))
    result.catch(() => undefined) // avoids an unhandled rejection: the caller gets the error when it awaits the result
    previous = result
    return result
  })
}

function findSource(sources: Sources, filename: string): File {
  const file = sources.get(filename)
  if (!file) throw new Error(`${filename} was not chosen`)
  return file
}
