import type { ChunkTask } from './chunk-source.ts'

export type RunningTask = ChunkTask & {
  abort: AbortController
  startedAt: number
  /** As given by the source that took it. */
  canGoOn: () => boolean
}
