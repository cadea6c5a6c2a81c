import { availableParallelism } from 'node:os'
import type { Manifest } from '../chunks/manifest.ts'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import { type FrontierHash, inlineFrontierHash, threadFrontierHash } from './frontier-hash.ts'
import type { WorkerSetup } from './inline-chunk-worker.ts'
import { threadChunkWorker } from './thread-chunk-worker.ts'

/** The threads of one pull, or their inline replacements. */
export interface WorkerPool {
  /** One or more workers. */
  readonly workers: ChunkWorker[]
  readonly hasher: FrontierHash
  /** Stops all work; nothing is written after this. */
  close(): Promise<void>
}

/**
 * A second receiving thread is useful only if a processor is free for it. Hashing the whole file needs a processor too.
 */
const receivingThreads = availableParallelism() > 2 ? 2 : 1
const checkingThreads = 2

/** Starts a worker pool. With `isInline`, the pool has no threads, which is faster for small files. */
export async function startWorkerPool(
  setup: WorkerSetup,
  manifest: Manifest,
  { isInline }: { isInline: boolean },
): Promise<WorkerPool> {
  const { path } = setup
  const workers = await startChunkWorkers(setup, { isInline })
  const hasher = isInline
    ? inlineFrontierHash(path, manifest)
    : threadFrontierHash({ path, fileSizeBytes: manifest.fileSizeBytes })
  return {
    workers,
    hasher,
    async close() {
      await Promise.all([...workers, hasher].map((member) => member.close()))
    },
  }
}

/**
 * Starts threads, and divides `setup.connections` among them. If `isInline` is true, starts one worker in this thread
 * instead.
 */
export async function startChunkWorkers(
  setup: WorkerSetup,
  { isInline }: { isInline: boolean },
): Promise<ChunkWorker[]> {
  if (isInline) {
    // This module is loaded only when needed, because it loads undici, which takes 27 MB of memory. If the workers have
    // their own threads, this thread does not need undici.
    const { inlineChunkWorker } = await import('./inline-chunk-worker.ts')
    return [inlineChunkWorker(setup)]
  }
  const threads =
    setup.connections === 0 ? checkingThreads : Math.min(setup.connections, receivingThreads)
  const share = { ...setup, connections: Math.ceil(setup.connections / threads) }
  return Array.from({ length: threads }, () => threadChunkWorker(share))
}
