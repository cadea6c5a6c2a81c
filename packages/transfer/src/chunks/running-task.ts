import type { ChunkTask } from './chunk-source.ts'

export type RunningTask = ChunkTask & {
  abort: AbortController
  startedAt: number
  /** The function that the source passed to `ChunkQueue.take`. */
  canGoOn: () => boolean
}
