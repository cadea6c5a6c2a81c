import type { Manifest } from '../chunks/manifest.ts'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import { type FrontierHash, inlineFrontierHash, threadFrontierHash } from './frontier-hash.ts'
import type { WorkerSetup } from './inline-chunk-worker.ts'
import { threadChunkWorker } from './thread-chunk-worker.ts'

/** The threads of one pull, or what does their work in this one. */
export interface WorkerPool {
  /** One at least. */
  readonly workers: ChunkWorker[]
  readonly hasher: FrontierHash
  /** Whatever still runs stops; nothing is written after this. */
  close(): Promise<void>
}

const maxThreads = 2

/** `isInline`: does without threads, as is faster for a small file. */
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

/** Two threads at most, which share `setup.connections`; or one worker in this thread. */
export async function startChunkWorkers(
  setup: WorkerSetup,
  { isInline }: { isInline: boolean },
): Promise<ChunkWorker[]> {
  if (isInline) {
    // Loaded late: undici is 27 MB that a thread has no use for here.
    const { inlineChunkWorker } = await import('./inline-chunk-worker.ts')
    return [inlineChunkWorker(setup)]
  }
  const threads = setup.connections === 1 ? 1 : maxThreads
  const share = { ...setup, connections: Math.ceil(setup.connections / threads) }
  return Array.from({ length: threads }, () => threadChunkWorker(share))
}
