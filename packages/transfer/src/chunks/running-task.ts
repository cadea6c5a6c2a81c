import type { ChunkTask } from './chunk-source.ts'

export type RunningTask = ChunkTask & {
  abort: AbortController
  startedAt: number
  /** As passed to `take` by the source. */
  canGoOn: () => boolean
}
