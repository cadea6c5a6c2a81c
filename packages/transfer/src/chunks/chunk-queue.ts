import type { Board } from './board.ts'
import type { ChunkLedger } from './chunk-ledger.ts'
import type { Delivery } from './chunk-source.ts'
import type { Chunk, Manifest } from './manifest.ts'
import type { RunningTask } from './running-task.ts'
import { slowTasks } from './slow-tasks.ts'
import type { Tuning } from './tuning.ts'

/** Decides which chunk is fetched next. All sources share one queue. */
export interface ChunkQueue {
  /**
   * Resolves with a task when there is one, and with undefined when all chunks are trusted. Rejects with the reason of
   * the queue's signal. `canGoOn`: whether the source can continue in the middle of a chunk, which makes it worthwhile
   * to take over a slow one. Each task ends with `deliver` or `leave`.
   */
  take(canGoOn: () => boolean): Promise<RunningTask | undefined>
  /**
   * The task's chunk is on disk: the ledger decides whether it is good. If not, it is queued again. Throws what
   * `onBadChunk` throws.
   */
  deliver(task: RunningTask, delivery: Delivery): void
  /** Ends the task without its chunk, which is queued again. Does nothing for a task that has ended. */
  leave(task: RunningTask): void
  /** Call it when the hasher, the clock or the signal may let a waiting slot continue, several times a second. */
  wake(): void
}

type QueueOptions = {
  manifest: Manifest
  board: Board
  ledger: ChunkLedger
  tuning: Tuning
  /** Bytes that the whole-file hash has read. */
  hashedBytes: () => number
  /** Whether a slow chunk may be requested again: not if the user limits the rate. */
  mayRestart: boolean
  signal: AbortSignal
  onBadChunk: (chunk: Chunk, delivery: Delivery, timesBad: number) => void
}

/** The share of the file that may be received twice because slow requests were abandoned; one chunk always may. */
const restartBudgetShare = 0.03
/** Every restart costs this much of the budget, so that restarts of silent requests also come to an end. */
const minCostBytes = 64 * 1024

/**
 * Chooses the next chunk: in order, and no further ahead of the hasher than the window. If there is nothing else to do,
 * a request that is slow for its own reasons is abandoned, and its chunk requested again from where it stopped.
 */
export function chunkQueue(options: QueueOptions): ChunkQueue {
  const { manifest, board, ledger, tuning, signal } = options
  const pending = manifest.chunks.filter(({ index }) => !ledger.isTrusted(index))
  const running = new Map<number, RunningTask>()
  const timesBad = new Map<number, number>()
  const fresh = new Set<number>()
  const window = Math.max(4, Math.floor(tuning.windowBytes / manifest.chunkSize))
  const slow = slowTasks(board, tuning.slowAfterMs)
  const timesRestarted = new Map<number, number>()
  let restartBudget = Math.max(manifest.chunkSize, manifest.fileSizeBytes * restartBudgetShare)
  const sleepers: (() => void)[] = []

  function startNext(canGoOn: () => boolean): RunningTask | undefined {
    const [chunk] = pending
    if (chunk === undefined) return undefined
    for (const index of fresh) {
      const { start: from, size } = manifest.chunks[index] as Chunk
      if (options.hashedBytes() >= from + size) fresh.delete(index)
    }
    const isInWindow = fresh.size + running.size < window || chunk.index === ledger.frontier()
    if (!isInWindow) return undefined
    pending.shift()
    const abort = new AbortController()
    const task: RunningTask = {
      chunk,
      from: Atomics.load(board.written, chunk.index),
      timesBad: timesBad.get(chunk.index) ?? 0,
      signal: AbortSignal.any([abort.signal, signal]),
      abort,
      startedAt: performance.now(),
      canGoOn,
    }
    running.set(chunk.index, task)
    return task
  }

  /** The chunk is taken again only once its request has ended: two must not write to the same place. */
  function restartSlowest() {
    const found = options.mayRestart ? slow.takeSlowest(mayRestart) : undefined
    if (found === undefined) return
    const { task, rate } = found
    const cost = restartCost(task, rate)
    if (cost > restartBudget) return
    restartBudget -= cost
    const { index } = task.chunk
    timesRestarted.set(index, (timesRestarted.get(index) ?? 0) + 1)
    task.abort.abort(new Error('it is slow'))
  }

  /** A chunk that is slow repeatedly gets more and more time. */
  function mayRestart(task: RunningTask) {
    const { index } = task.chunk
    const minMs = tuning.slowAfterMs * 2 ** (timesRestarted.get(index) ?? 0)
    const isOldEnough = performance.now() - task.startedAt >= minMs
    return running.get(index) === task && task.canGoOn() && isOldEnough
  }

  /**
   * Bytes that may be received twice: those in transit, which cannot be seen from here but are fewer than those
   * received in a window.
   */
  function restartCost({ chunk }: RunningTask, rate: number) {
    const left = chunk.size - Atomics.load(board.written, chunk.index)
    return Math.min(left, minCostBytes + rate * tuning.slowAfterMs)
  }

  function wakeSleepers() {
    for (const sleeper of sleepers.splice(0)) sleeper()
  }

  /** Ends a task, with or without its chunk. */
  function leave(task: RunningTask) {
    const { chunk } = task
    if (running.get(chunk.index) !== task) return
    running.delete(chunk.index)
    if (!ledger.isTrusted(chunk.index)) {
      const place = pending.findIndex(({ index }) => index > chunk.index)
      pending.splice(place === -1 ? pending.length : place, 0, chunk)
    }
    wakeSleepers()
  }

  function trust(task: RunningTask, delivery: Delivery) {
    const { chunk } = task
    if (ledger.accept(chunk, delivery.sha256)) {
      fresh.add(chunk.index)
      slow.noteDone(task)
      return
    }
    const times = (timesBad.get(chunk.index) ?? 0) + 1
    timesBad.set(chunk.index, times)
    options.onBadChunk(chunk, delivery, times)
  }

  return {
    async take(canGoOn) {
      for (;;) {
        signal.throwIfAborted()
        if (ledger.isWhole()) return undefined
        const task = startNext(canGoOn)
        if (task !== undefined) return task
        if (canGoOn()) restartSlowest()
        await new Promise<void>((resolve) => sleepers.push(resolve))
      }
    },

    deliver(task, delivery) {
      try {
        trust(task, delivery)
      } finally {
        leave(task)
      }
    },

    leave,
    wake() {
      slow.sample(running.values())
      wakeSleepers()
    },
  }
}
