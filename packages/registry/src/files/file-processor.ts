import { randomUUID } from 'node:crypto'
import type { ObjectStore } from '../store/object-store.ts'
import type { BlobRepository } from './blob-repository.ts'
import type { FileRepository, FileRow } from './file-repository.ts'
import type { GarbageCollection } from './garbage-collection.ts'
import { processFile } from './process-file.ts'
import type { ProcessingQueue } from './processing-queue.ts'

type Log = {
  info(details: object, message: string): void
  error(details: object, message: string): void
}

type Dependencies = {
  queue: ProcessingQueue
  files: FileRepository
  blobs: BlobRepository
  store: ObjectStore
  collect: GarbageCollection
  log: Log
}

const atOnce = 2
const lookEveryMs = 5_000
const renewEveryMs = 20_000
/** A file that brings its node down or meets a broken store this often is given up. */
const attemptsAtMost = 8

export type FileProcessor = {
  /** Look for work now: something was just submitted. */
  wake(): void
  /** Puts running jobs back and ends. */
  close(): Promise<void>
}

/** Takes the files in status `processing`, one after another, as long as the process runs. */
export function fileProcessor(dependencies: Dependencies): FileProcessor {
  const { queue, log } = dependencies
  const holder = randomUUID()
  const running = new Set<Promise<void>>()
  const stop = new AbortController()
  const timer = setInterval(wake, lookEveryMs)
  let isLooking = false
  let isWoken = false

  function wake() {
    isWoken = true
    if (isLooking) return
    isLooking = true
    look()
      .catch((error) => log.error({ err: error }, 'no look at the processing queue'))
      .finally(() => {
        isLooking = false
      })
  }

  async function look() {
    while (isWoken && !stop.signal.aborted) {
      isWoken = false
      while (running.size < atOnce) {
        const file = await queue.claim(holder)
        if (!file) break
        const job = work(file)
          .catch((error) => log.error({ err: error, file: file.id }, 'a lease will run out'))
          .finally(() => {
            running.delete(job)
            wake()
          })
        running.add(job)
      }
    }
  }

  async function work(file: FileRow) {
    const lost = new AbortController()
    const signal = AbortSignal.any([stop.signal, lost.signal])
    const lease = setInterval(() => {
      queue.renew(file.id, holder).then(
        (isOurs) => isOurs || lost.abort(),
        (error) => log.error({ err: error, file: file.id }, 'a lease was not renewed'),
      )
    }, renewEveryMs)
    try {
      await finish(file, signal)
    } catch (error) {
      if (lost.signal.aborted) return
      if (stop.signal.aborted) {
        await queue.putBack(file.id, holder)
        return
      }
      log.error({ err: error, file: file.id, attempt: file.attempts }, 'processing failed')
      await queue.retryLater(file.id, holder, Math.min(2 ** file.attempts, 60))
    } finally {
      clearInterval(lease)
    }
  }

  async function finish(file: FileRow, signal: AbortSignal) {
    if (file.attempts > attemptsAtMost) {
      const detail = `processing was broken off ${attemptsAtMost} times`
      await queue.end(file.id, holder, { status: 'failed', detail })
      await dependencies.collect.removeUpload(file)
      return
    }
    const startedAt = Date.now()
    const result = await processFile(dependencies, file, signal)
    if (result.outcome === 'ready') await dependencies.files.publish(file, result)
    else await queue.end(file.id, holder, { status: result.outcome, detail: result.detail })
    // What was not taken over goes: a failed file, or bytes that were stored before.
    await dependencies.collect.removeUpload(file)
    log.info(
      {
        file: file.id,
        outcome: result.outcome,
        bytes: file.file_size_bytes,
        ms: Date.now() - startedAt,
      },
      'file processed',
    )
  }

  wake()
  return {
    wake,
    async close() {
      clearInterval(timer)
      stop.abort()
      await Promise.all(running)
    },
  }
}
