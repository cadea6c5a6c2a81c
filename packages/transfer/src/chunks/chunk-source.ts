import type { SourceShare } from '../events.ts'
import type { Chunk } from './manifest.ts'

/** One attempt to get one chunk. */
export type ChunkTask = {
  chunk: Chunk
  /** Number of bytes at the start of the chunk that are on disk and need not be fetched again. */
  from: number
  /**
   * How many times this chunk has been received with a wrong hash. After each time, a source with several URLs switches
   * to another URL.
   */
  timesBad: number
  /** Aborted when the task must end immediately. */
  signal: AbortSignal
}

/** The result of a task whose chunk is on disk. */
export type Delivery = {
  /** The SHA-256 of the chunk, as computed by the source. The ledger compares it with the manifest. */
  sha256: string
  /** The senders of the bytes, which are reported if the chunk is bad. */
  sender: string
}

/** Fetches chunks: with requests to the registry, or from a swarm of peers. All sources share one queue. */
export interface ChunkSource {
  /** Maximum number of tasks at the same time. */
  readonly slots: number
  /** Whether the source can continue in the middle of a chunk. Only then is it worthwhile to restart a slow request. */
  canGoOn(): boolean
  /**
   * Resolves when the source may fetch chunks, or when the pull is over. The result is a signal that is aborted when
   * the source must pause.
   */
  turn(): Promise<AbortSignal>
  /**
   * Downloads the task's chunk to disk. Slots are numbered from 0; each has one task at a time. Rejects with a
   * `TransferError` if the chunk cannot be downloaded. When `turn` is aborted, the source may wait briefly for data in
   * transit, and must then reject.
   */
  fetch(task: ChunkTask, slot: number, turn: AbortSignal): Promise<Delivery>
  /** The bytes received from each sender so far, valid or not. */
  shares(): SourceShare[]
}
