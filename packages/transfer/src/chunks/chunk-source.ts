import type { SourceShare } from '../events.ts'
import type { Chunk } from './manifest.ts'

/** One attempt to get one chunk. */
export type ChunkTask = {
  chunk: Chunk
  /** Bytes of it that are on disk and need not come again. */
  from: number
  /** How often this chunk came with a wrong hash. A source that has several ways takes another. */
  timesBad: number
  /** Fires when the task is to end at once. */
  signal: AbortSignal
}

/** The chunk's bytes are on disk. */
export type Delivery = {
  /** What the source found the whole chunk's SHA-256 to be; it decides nothing. */
  sha256: string
  /** Who sent the bytes, to be named when they are bad. */
  sender: string
}

/** Where chunks come from: requests to the registry, or a swarm of peers. All sources work off one queue. */
export interface ChunkSource {
  /** How many tasks it takes at a time. */
  readonly slots: number
  /** Whether it can go on in the middle of a chunk, so that a slow request is worth giving up. */
  canGoOn(): boolean
  /** Resolves when the source is to work, or the pull is over, with what fires when it is to stop for now. */
  turn(): Promise<AbortSignal>
  /**
   * Gets the task's chunk onto the disk. `slot` counts from 0 and has one task at a time. Rejects with a `TransferError` if the chunk
   * could not be had. When `turn` fires, it is to come to an end soon: it may wait for what is on its way, and rejects then.
   */
  fetch(task: ChunkTask, slot: number, turn: AbortSignal): Promise<Delivery>
  /** The bytes that each sender has sent so far, good or not. */
  shares(): SourceShare[]
}
