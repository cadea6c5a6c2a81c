import type { SourceShare } from '../events.ts'
import type { Chunk } from './manifest.ts'

/** One attempt to get one chunk. */
export type ChunkTask = {
  chunk: Chunk
  /** Bytes of it that are on disk and need not be fetched again. */
  from: number
  /** How often this chunk was received with a wrong hash. A source with several routes tries another. */
  timesBad: number
  /** Aborted when the task has to end at once. */
  signal: AbortSignal
}

/** The chunk's bytes are on disk. */
export type Delivery = {
  /** The SHA-256 of the chunk as computed by the source; only a hint. */
  sha256: string
  /** The senders of the bytes, to be named if they are bad. */
  sender: string
}

/** Fetches chunks: with requests to the registry, or from a swarm of peers. All sources share one queue. */
export interface ChunkSource {
  /** How many tasks it takes at a time. */
  readonly slots: number
  /** Whether it can continue in the middle of a chunk, which makes it worthwhile to abandon a slow request. */
  canGoOn(): boolean
  /** Resolves when the source may start, or when the pull is over, with a signal that tells it to pause. */
  turn(): Promise<AbortSignal>
  /**
   * Gets the task's chunk onto the disk. `slot` counts from 0 and has one task at a time. Rejects with a
   * `TransferError` if it cannot get the chunk. When `turn` is aborted it must end soon: it may wait for data in
   * transit, and rejects then.
   */
  fetch(task: ChunkTask, slot: number, turn: AbortSignal): Promise<Delivery>
  /** The bytes received from each sender so far, good or not. */
  shares(): SourceShare[]
}
