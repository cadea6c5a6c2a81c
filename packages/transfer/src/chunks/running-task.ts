import type { ChunkTask } from './chunk-source.ts'

export type RunningTask = ChunkTask & {
  abort: AbortController
  startedAt: number
  /** As whoever took it said. */
  canGoOn: () => boolean
}
