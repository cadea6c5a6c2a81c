/** The page's current upload. It is not tied to a screen, so it continues while other screens are shown. */
import { hasCode } from '@shoal/core/errors'
import type { ProgressMeter } from '@shoal/transfer/push'
import { observable } from '../../observable.ts'
import { type Job, type Sources, sumBytes, unfinished } from './job.ts'
import { lockJob, type Unlock } from './job-lock.ts'
import { forgetJob, keepJob } from './kept-jobs.ts'
import { type FileState, firstState, progressShare } from './progress-share.ts'
import type { PublishClient } from './publish-client.ts'
import type { JobEvent } from './run-job.ts'
import type { UploadWait } from './wait.ts'

export type Publishing = {
  job: Job
  state: 'running' | 'paused' | 'failed' | 'done'
  files: FileState[]
  /** The completed fraction, from 0 to 1, including both hashing and sending. It never decreases. */
  share: number
  /** The number of bytes that the registry has, and the speed of the upload. */
  progress: ReturnType<ProgressMeter['read']>
  wait: UploadWait | undefined
  error: Error | undefined
  /** Whether the job is saved in the browser, so that the upload can be resumed after a reload. */
  isKept: boolean
}

type FileEvent = Extract<JobEvent, { type: 'file' }>

type Order = {
  client: PublishClient
  job: Job
  sources: Sources
  /** Called when a file is ready in the registry. */
  onReady: () => void
}

const tickMs = 200

/** Loads what only a running job needs. */
const loadTools = () => import('./run-job.ts')

/** The upload of this tab. */
type Upload = {
  order: Order
  /** The states of the files. Screens see them at the next tick. */
  files: FileState[]
  abort: AbortController
  /** Releases the lock of the job; undefined if this tab does not have the lock. */
  unlock?: Unlock | undefined
  /** Resolves when the upload has stopped. */
  ended: Promise<void>
  /** Resolves when all changes of the job have been saved. */
  written: Promise<void>
}

let upload: Upload | undefined
const shown = observable<Publishing | undefined>(undefined)

/** The state of the upload, for screens; undefined if there is no upload. */
export const publishing = { get: shown.get, subscribe: shown.subscribe }

function show(next: Publishing | undefined) {
  if (next?.state === 'running') addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
  shown.set(next)
}

function change(changes: Partial<Publishing>) {
  const before = shown.get()
  if (before) show({ ...before, ...changes })
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault()

export function startJob(order: Order) {
  const { job } = order
  const files = job.files.map(firstState)
  const bytesTotal = sumBytes(job.files)
  const bytesDone = bytesTotal - sumBytes(unfinished(job))
  const progress = { bytesDone, bytesTotal, bytesPerSecond: 0, secondsLeft: undefined }
  const calm = { wait: undefined, error: undefined, isKept: true }
  show({ job, state: 'running', files, share: progressShare(files), progress, ...calm })
  const { ended, written } = upload ?? { ended: Promise.resolve(), written: Promise.resolve() }
  upload = { order, files, abort: new AbortController(), ended, written }
  run(upload, job)
}

/** Pauses the upload. Chunks that are being sent must later be sent again from the beginning. */
export async function pauseJob() {
  change({ state: 'paused', wait: undefined })
  upload?.abort.abort(new Error('paused'))
  await upload?.ended
}

export function resumeJob() {
  const job = shown.get()?.job
  if (!upload || !job) return
  change({ state: 'running', error: undefined })
  run(upload, job)
}

/** Deletes the job and its uploads, unless another tab is publishing it. */
export async function giveUpJob() {
  await pauseJob()
  const job = shown.get()?.job
  if (upload?.unlock && job) {
    const { dropJob } = await loadTools()
    await dropJob(upload.order.client, job)
    await forget(upload, job)
  }
  closeJob()
}

export function closeJob() {
  if (upload) letGo(upload)
  show(undefined)
}

function letGo(one: Upload) {
  one.unlock?.()
  one.unlock = undefined
}

function run(one: Upload, job: Job) {
  one.abort = new AbortController()
  const { client, sources, onReady } = one.order
  const { signal } = one.abort
  let tools: Awaited<ReturnType<typeof loadTools>> | undefined
  let meter: ProgressMeter | undefined
  let sentBytes = 0

  function report(event: JobEvent) {
    if (signal.aborted) return
    if (event.type === 'wait') return change({ wait: event.wait })
    if (event.type === 'sent') {
      sentBytes += event.bytes
      return
    }
    if (event.stage === 'sending') meter ??= tools?.progressMeter(sumBytes(job.files))
    const before = one.files.find(({ filename }) => filename === event.filename)
    one.files = one.files.map((file) => changedBy(file, event))
    if (before?.stage !== event.stage) tick()
    if (event.stage === 'ready') onReady()
  }

  function changedBy(file: FileState, { filename, stage, bytesDone }: FileEvent): FileState {
    if (!tools || file.filename !== filename) return file
    return tools.withProgress(file, stage, bytesDone)
  }

  function tick() {
    const before = shown.get()
    if (!before || signal.aborted) return
    const { files } = one
    const read = meter?.read(bytesThere(files), sentBytes)
    const bytesDone = Math.max(before.progress.bytesDone, read?.bytesDone ?? 0)
    const share = Math.max(before.share, progressShare(files))
    change({ files, share, progress: { ...before.progress, ...read, bytesDone } })
  }

  async function fail(error: unknown) {
    if (signal.aborted) return // the upload was paused, and its state is already `paused`
    if (!(error instanceof Error)) throw error
    if (!hasCode(error, 'other_tab')) {
      const dropped = loadTools().then(({ dropNewModel }) => dropNewModel(client, job))
      await dropped.catch(() => undefined) // only the original error is shown
    }
    tick()
    change({ state: 'failed', error, wait: undefined })
  }

  const timer = setInterval(tick, tickMs)
  const before = one.ended
  const keep = (changed: Job) => keepLatest(one, changed)
  const work = async () => {
    await before
    one.unlock ??= await lockJob(job.modelName)
    signal.throwIfAborted()
    keep(job)
    tools = await loadTools()
    return tools.runJob({ connection: client.connection, job, sources, signal, report, keep })
  }
  const finish = async () => {
    await forget(one, job) // before the lock is released, so that no other tab shows the job as unfinished
    letGo(one)
    change({ state: 'done', wait: undefined })
  }
  one.ended = work()
    .then(finish)
    .catch(fail)
    .finally(() => clearInterval(timer))
}

const isSentAt: Record<FileState['stage'], boolean> = {
  queued: false,
  hashing: false,
  sending: true,
  checking: true,
  ready: true,
  refused: true,
}

const bytesThere = (files: readonly FileState[]): number =>
  files.filter(({ stage }) => isSentAt[stage]).reduce((sum, { bytesDone }) => sum + bytesDone, 0)

/**
 * Saves a job after all earlier saves have completed, so that the latest version is saved last. Without IndexedDB, the
 * files can be published, but the job cannot be resumed after a reload.
 */
function keepLatest(one: Upload, job: Job) {
  change({ job })
  one.written = one.written
    .then(() => keepJob(job))
    .then(
      () => undefined,
      () => void change({ isKept: false }),
    )
}

/** Deletes the saved job. Ignores errors if the job could not be saved in the first place. */
async function forget(one: Upload, job: Job) {
  await one.written
  const isKept = shown.get()?.isKept ?? true
  await forgetJob(job).catch((error: unknown) => {
    if (isKept) throw error
  })
}
