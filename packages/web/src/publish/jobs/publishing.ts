/** The page's current upload. It is not tied to a screen, so it continues while other screens are shown. */
import { hasCode } from '@shoal/core/errors'
import { dropEmptyModel, type ProgressMeter } from '@shoal/transfer/push'
import { dropJob } from './drop-job.ts'
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

let shown: Publishing | undefined
let order: Order | undefined
let abort = new AbortController()
/** Releases the lock of the job that is shown; undefined if this tab does not have the lock. */
let unlock: Unlock | undefined
let ended: Promise<void> = Promise.resolve()
let written: Promise<void> = Promise.resolve()
const listeners = new Set<() => void>()

/** The state of the upload, for screens; undefined if there is no upload. */
export const publishing = {
  get: () => shown,
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  },
}

function show(next: Publishing | undefined) {
  shown = next
  if (next?.state === 'running') addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
  for (const listener of listeners) listener()
}

const change = (changes: Partial<Publishing>) => shown && show({ ...shown, ...changes })
const warn = (event: BeforeUnloadEvent) => event.preventDefault()

export function startJob(given: Order) {
  order = given
  const { job } = given
  const files = job.files.map(firstState)
  const bytesTotal = sumBytes(job.files)
  const bytesDone = bytesTotal - sumBytes(unfinished(job))
  const progress = { bytesDone, bytesTotal, bytesPerSecond: 0, secondsLeft: undefined }
  const calm = { wait: undefined, error: undefined, isKept: true }
  show({ job, state: 'running', files, share: progressShare(files), progress, ...calm })
  run(given)
}

/** Pauses the upload. Chunks that are being sent must later be sent again from the beginning. */
export async function pauseJob() {
  change({ state: 'paused', wait: undefined })
  abort.abort(new Error('paused'))
  await ended
}

export function resumeJob() {
  if (!order || !shown) return
  change({ state: 'running', error: undefined })
  run({ ...order, job: shown.job })
}

/** Deletes the job and its uploads, unless another tab is publishing it. */
export async function giveUpJob() {
  await pauseJob()
  if (order && shown && unlock) {
    const { job } = shown
    await dropJob(order.client, job)
    await forget(job)
  }
  closeJob()
}

export function closeJob() {
  letGo()
  show(undefined)
}

function letGo() {
  unlock?.()
  unlock = undefined
}

function run({ client, job, sources, onReady }: Order) {
  abort = new AbortController()
  const { signal } = abort
  let tools: typeof import('./run-job.ts') | undefined
  let meter: ProgressMeter | undefined
  let sentBytes = 0

  function report(event: JobEvent) {
    if (!shown || signal.aborted) return
    if (event.type === 'wait') return change({ wait: event.wait })
    if (event.type === 'sent') {
      sentBytes += event.bytes
      return
    }
    if (event.stage === 'sending') meter ??= tools?.progressMeter(shown.progress.bytesTotal)
    const before = shown.files.find(({ filename }) => filename === event.filename)
    shown = { ...shown, files: shown.files.map((file) => changedBy(file, event)) }
    if (before?.stage !== event.stage) tick()
    if (event.stage === 'ready') onReady()
  }

  function changedBy(file: FileState, { filename, stage, bytesDone }: FileEvent): FileState {
    if (!tools || file.filename !== filename) return file
    return tools.withProgress(file, stage, bytesDone)
  }

  function tick() {
    if (!shown || signal.aborted) return
    const read = meter?.read(bytesThere(shown.files), sentBytes)
    const bytesDone = Math.max(shown.progress.bytesDone, read?.bytesDone ?? 0)
    const share = Math.max(shown.share, progressShare(shown.files))
    change({ share, progress: { ...shown.progress, ...read, bytesDone } })
  }

  async function fail(error: unknown) {
    if (signal.aborted) return // the upload was paused, and its state is already `paused`
    if (!(error instanceof Error)) throw error
    if (job.newModel && !hasCode(error, 'other_tab')) {
      const filenames = job.files.map(({ filename }) => filename)
      const dropped = dropEmptyModel({ client, modelName: job.modelName, filenames })
      await dropped.catch(() => undefined) // only the original error is shown
    }
    change({ state: 'failed', error, wait: undefined })
  }

  const timer = setInterval(tick, tickMs)
  const before = ended
  const work = async () => {
    await before
    unlock ??= await lockJob(job.modelName)
    signal.throwIfAborted()
    keep(job)
    tools = await import('./run-job.ts') // loaded on demand
    return tools.runJob({ connection: client.connection, job, sources, signal, report, keep })
  }
  const finish = async () => {
    await forget(job) // before the lock is released, so that no other tab shows the job as unfinished
    letGo()
    change({ state: 'done', wait: undefined })
  }
  ended = work()
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
function keep(job: Job) {
  change({ job })
  written = written
    .then(() => keepJob(job))
    .then(
      () => undefined,
      () => void change({ isKept: false }),
    )
}

/** Deletes the saved job. Ignores errors if the job could not be saved in the first place. */
async function forget(job: Job) {
  await written
  const isKept = shown?.isKept ?? true
  await forgetJob(job).catch((error: unknown) => {
    if (isKept) throw error
  })
}
