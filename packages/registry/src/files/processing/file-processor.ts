import { randomUUID } from 'node:crypto'
import type { Log } from '@shoal/log'
import { v7 as newId } from 'uuid'
import type { ObjectStore } from '../../store/object-store.ts'
import type { GarbageCollection } from '../garbage/garbage-collection.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import { type FileRepository, isLeaseLost, leaseLost } from '../rows/file-repository.ts'
import { type FileRow, toChunkLayout } from '../rows/file-row.ts'
import { type ProcessedFile, processFile, type UnfinishedFile } from './process-file.ts'
import {
  type EndedJob,
  maxRetryDelaySeconds,
  type ProcessingQueue,
  renewIntervalMs,
} from './processing-queue.ts'
import { publishFile } from './publish-file.ts'

type Dependencies = {
  queue: ProcessingQueue
  files: FileRepository
  blobs: BlobRepository
  store: ObjectStore
  collect: GarbageCollection
  log: Pick<Log, 'info' | 'error'>
  pollIntervalMs: number
}

const maxJobs = 2
/** A file fails after nodes have stopped this many times while processing it. */
const maxAttempts = 8

export type FileProcessor = {
  /** Polls immediately. Called after a file has been submitted. */
  wake(): void
  /** Puts running jobs back in the queue and stops. */
  close(): Promise<void>
}

/** Processes the files in status `processing`, up to `maxJobs` at a time. */
export function fileProcessor(dependencies: Dependencies): FileProcessor {
  const { queue, log, pollIntervalMs } = dependencies
  const holder = randomUUID()
  /** The jobs that are running, by file ID. */
  const running = new Map<string, Promise<void>>()
  const stop = new AbortController()
  const timer = setInterval(wake, pollIntervalMs)
  /** The number of consecutive failures to process a file on this node, by file ID. */
  const failures = new Map<string, number>()
  let isPolling = false
  let polling: Promise<void> = Promise.resolve()
  let isWoken = false

  function wake() {
    isWoken = true
    if (isPolling) return
    isPolling = true
    polling = poll()
      .catch((error) => log.error({ err: error }, 'could not poll the processing queue'))
      .finally(() => {
        isPolling = false
      })
  }

  async function poll() {
    while (isWoken && !stop.signal.aborted) {
      isWoken = false
      while (running.size < maxJobs && !stop.signal.aborted) {
        const file = await queue.claim(holder, [...running.keys()])
        if (!file) break
        const job = work(file)
          .catch((error) =>
            log.error({ err: error, file: file.id }, 'could not release a lease; it will expire'),
          )
          .finally(() => {
            running.delete(file.id)
            wake()
          })
        running.set(file.id, job)
      }
    }
  }

  async function work(file: FileRow) {
    const lost = new AbortController()
    const signal = AbortSignal.any([stop.signal, lost.signal])
    const lease = setInterval(() => {
      queue.renew(file.id, holder).then(
        (isOurs) => isOurs || lost.abort(),
        (error) => log.error({ err: error, file: file.id }, 'could not renew a lease'),
      )
    }, renewIntervalMs)
    try {
      await finish(file, signal)
      failures.delete(file.id)
    } catch (error) {
      if (lost.signal.aborted) return
      if (stop.signal.aborted) {
        await queue.putBack(file.id, holder)
        return
      }
      if (isLeaseLost(error)) {
        log.info({ err: error, file: file.id }, 'lost the lease on a file')
        return
      }
      const failed = (failures.get(file.id) ?? 0) + 1
      failures.set(file.id, failed)
      log.error({ err: error, file: file.id, failed }, 'processing failed')
      await queue.retryLater(file.id, holder, Math.min(2 ** failed, maxRetryDelaySeconds))
    } finally {
      clearInterval(lease)
    }
  }

  async function finish(file: FileRow, signal: AbortSignal) {
    if (file.attempts > maxAttempts) {
      const detail = `the registry stopped unexpectedly ${maxAttempts} times while processing this file`
      await orLeaseLost(queue.end(file.id, holder, { status: 'failed', detail }))
      await dependencies.collect.removeUpload(file)
      return
    }
    const startedAt = Date.now()
    const keepLease = () => orLeaseLost(queue.renew(file.id, holder))
    const result = await processFile(dependencies, file, keepLease, signal)
    await settle(file, result)
    // Remove the upload if it did not become a blob, because the file failed or its bytes were already stored.
    await dependencies.collect.removeUpload(file)
    log.info(
      {
        file: file.id,
        outcome: result.outcome,
        bytes: file.file_size_bytes,
        ms: Date.now() - startedAt,
      },
      'processed a file',
    )
  }

  /** Applies the result. If this node no longer has the lease, throws and changes nothing. */
  async function settle(file: FileRow, result: ProcessedFile) {
    if (result.outcome === 'ready') return publishFile(dependencies, file, holder, result)
    await orLeaseLost(queue.end(file.id, holder, await toEndedJob(file, result)))
  }

  async function toEndedJob(file: FileRow, result: UnfinishedFile): Promise<EndedJob> {
    const { detail } = result
    if (result.outcome === 'failed') return { status: 'failed', detail }
    const uploadId = result.outcome === 'gone' ? await makeRoomAgain(file) : result.uploadId
    return { status: 'uploading', detail, uploadId }
  }

  /**
   * Prepares a new upload of the file. The row refers to the new object before the object is created, so that garbage
   * collection does not remove the object. Clients see the upload only after the object has been created.
   */
  async function makeRoomAgain(file: FileRow): Promise<string | null> {
    const key = newId()
    await orLeaseLost(queue.forgetBytes(file.id, holder, key))
    return dependencies.store.startUpload({ key, uploadId: null }, toChunkLayout(file))
  }

  wake()
  return {
    wake,
    async close() {
      clearInterval(timer)
      stop.abort()
      await polling // the poll may have claimed one more job, which must also be put back
      await Promise.all(running.values())
    },
  }
}

/** Throws if a queue operation resolves to false, which means that this node has lost the lease. */
async function orLeaseLost(step: Promise<boolean>): Promise<void> {
  if (!(await step)) throw leaseLost()
}
