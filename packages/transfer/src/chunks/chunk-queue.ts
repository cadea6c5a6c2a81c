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
   * Resolves with a task as soon as one is available, or with undefined when all chunks are trusted. Rejects with the
   * signal's reason when the queue's signal is aborted. `canGoOn` returns whether the source can continue in the middle
   * of a chunk; only then is it worthwhile to restart a slow request. The caller ends each task with `deliver` or
   * `leave`.
   */
  take(canGoOn: () => boolean): Promise<RunningTask | undefined>
  /**
   * Reports that the task's chunk is on disk. If the ledger does not accept the chunk, calls `onBadChunk` and queues
   * the chunk again. Throws any error that `onBadChunk` throws.
   */
  deliver(task: RunningTask, delivery: Delivery): void
  /** Ends the task without its chunk, and queues the chunk again. Does nothing if the task has already ended. */
  leave(task: RunningTask): void
  /**
   * Makes waiting calls of `take` check again whether a task is available. Must be called several times a second, and
   * also when the hasher has made progress and when the signal is aborted.
   */
  wake(): void
}

type QueueOptions = {
  manifest: Manifest
  board: Board
  ledger: ChunkLedger
  tuning: Tuning
  /** Number of bytes that the whole-file hash has read. */
  hashedBytes: () => number
  /** Whether slow requests may be restarted. They must not be if the user limits the rate. */
  mayRestart: boolean
  signal: AbortSignal
  onBadChunk: (chunk: Chunk, delivery: Delivery, timesBad: number) => void
}

/**
 * Maximum share of the file that may be received twice because slow requests are restarted. The limit is at least one
 * chunk.
 */
const restartBudgetShare = 0.03
/** Fixed cost of a restart, so that restarts of requests that receive nothing also use up the budget. */
const minCostBytes = 64 * 1024

/**
 * Creates a queue that returns chunks in order, but no further ahead of the hasher than the window allows. If no chunk
 * can be started, the queue aborts a request that is slow although the network is not, so that its chunk is requested
 * again from where the request stopped.
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

  /**
   * If a request is slow and the budget allows a restart, aborts the slowest request. Its chunk is requested again only
   * after the aborted request has ended, because two requests must not write to the same place.
   */
  function restartSlowest() {
    const found = options.mayRestart ? slow.takeSlowest(mayRestart) : undefined
    if (found === undefined) return
    const { task, rate } = found
    const cost = restartCost(task, rate)
    if (cost > restartBudget) return
    restartBudget -= cost
    const { index } = task.chunk
    timesRestarted.set(index, (timesRestarted.get(index) ?? 0) + 1)
    task.abort.abort(new Error('the request is slow'))
  }

  /** Whether a task may be restarted. Each restart of a chunk doubles the minimum time before its next restart. */
  function mayRestart(task: RunningTask) {
    const { index } = task.chunk
    const minMs = tuning.slowAfterMs * 2 ** (timesRestarted.get(index) ?? 0)
    const isOldEnough = performance.now() - task.startedAt >= minMs
    return running.get(index) === task && task.canGoOn() && isOldEnough
  }

  /**
   * Returns an upper bound for the number of bytes that a restart causes to be received twice: the bytes in transit.
   * That number cannot be measured, but it is lower than the number of bytes that the request receives within
   * `slowAfterMs`.
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
