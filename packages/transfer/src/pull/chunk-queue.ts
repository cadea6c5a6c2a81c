import type { Board } from './board.ts'
import type { ChunkLedger } from './chunk-ledger.ts'
import type { ChunkTask, Delivery } from './chunk-source.ts'
import type { Chunk, Manifest } from './manifest.ts'
import { slowestOf } from './slow-tasks.ts'
import type { Tuning } from './tuning.ts'

export type RunningTask = ChunkTask & {
  abort: AbortController
  startedAt: number
  /** A spare won: what this one does next does not matter. */
  isBeaten: boolean
  isOver: boolean
  settled: Promise<void>
  settle(): void
}

export type ChunkQueue = ReturnType<typeof chunkQueue>

type QueueOptions = {
  manifest: Manifest
  board: Board
  ledger: ChunkLedger
  tuning: Tuning
  /** Bytes that the whole-file hash has read. */
  hashedBytes: () => number
  /** Whether a slow chunk may be requested twice: not where the user limits the rate. */
  mayDouble: boolean
  signal: AbortSignal
  onBadChunk: (chunk: Chunk, delivery: Delivery, timesBad: number) => void
}

/** Which chunk is to be fetched next: in order, no further ahead of the hasher than the window, slow ones twice. */
export function chunkQueue(options: QueueOptions) {
  const { manifest, board, ledger, tuning, signal } = options
  const pending = manifest.chunks.filter(({ index }) => !ledger.isTrusted(index))
  const running = new Map<number, { first: RunningTask; spare: RunningTask | undefined }>()
  const timesBad = new Map<number, number>()
  const fresh = new Set<number>()
  const window = Math.max(4, Math.floor(tuning.windowBytes / manifest.chunkSize))
  const mostSpares = Math.max(1, Math.floor((64 * 1024 * 1024) / manifest.chunkSize))
  const patienceMs = tuning.patienceWithSlowMs
  let typicalRate = 0
  const sleepers: (() => void)[] = []

  function start(chunk: Chunk, isSpare: boolean): RunningTask {
    const abort = new AbortController()
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
    const task: RunningTask = {
      chunk,
      from: Atomics.load(board.written, chunk.index),
      timesBad: timesBad.get(chunk.index) ?? 0,
      isSpare,
      signal: AbortSignal.any([abort.signal, signal]),
      abort,
      startedAt: performance.now(),
      isBeaten: false,
      isOver: false,
      settled,
      settle,
    }
    return task
  }

  function startNext(): RunningTask | undefined {
    const [chunk] = pending
    if (chunk === undefined) return undefined
    for (const index of fresh) {
      const { start: from, size } = manifest.chunks[index] as Chunk
      if (options.hashedBytes() >= from + size) fresh.delete(index)
    }
    const isInWindow = fresh.size + running.size < window || chunk.index === ledger.frontier()
    if (!isInWindow) return undefined
    pending.shift()
    const first = start(chunk, false)
    running.set(chunk.index, { first, spare: undefined })
    return first
  }

  function startSpare(): RunningTask | undefined {
    if (!options.mayDouble) return undefined
    const pairs = [...running.values()]
    const spares = pairs.filter(({ spare }) => spare !== undefined)
    if (spares.length >= mostSpares) return undefined
    const alone = pairs.filter(({ spare }) => spare === undefined).map(({ first }) => first)
    const slow = slowestOf(alone, board, { typicalRate, patienceMs })
    const pair = slow && running.get(slow.chunk.index)
    if (pair === undefined) return undefined
    pair.spare = start(pair.first.chunk, true)
    return pair.spare
  }

  function wake() {
    for (const sleeper of sleepers.splice(0)) sleeper()
  }

  function putBack(chunk: Chunk) {
    const place = pending.findIndex(({ index }) => index > chunk.index)
    pending.splice(place === -1 ? pending.length : place, 0, chunk)
  }

  /** A task is over, with or without its chunk. */
  function leave(task: RunningTask) {
    task.isOver = true
    task.settle()
    const { chunk } = task
    const pair = running.get(chunk.index)
    if (pair?.spare === task) pair.spare = undefined
    if (ledger.isTrusted(chunk.index)) pair?.spare?.abort.abort()
    const isLast = pair?.first.isOver && (pair.spare === undefined || ledger.isTrusted(chunk.index))
    if (pair && isLast) {
      running.delete(chunk.index)
      if (!ledger.isTrusted(chunk.index)) putBack(chunk)
    }
    wake()
  }

  function trust(task: RunningTask, delivery: Delivery) {
    const { chunk } = task
    if (ledger.accept(chunk, delivery.sha256)) {
      fresh.add(chunk.index)
      const rate = (chunk.size - task.from) / Math.max(1, performance.now() - task.startedAt)
      typicalRate = typicalRate === 0 ? rate : 0.8 * typicalRate + 0.2 * rate
      return
    }
    const times = (timesBad.get(chunk.index) ?? 0) + 1
    timesBad.set(chunk.index, times)
    options.onBadChunk(chunk, delivery, times)
  }

  async function trustSpare(task: RunningTask, delivery: Delivery) {
    const { chunk } = task
    const pair = running.get(chunk.index)
    const isUseful = pair?.spare === task && delivery.sha256 === chunk.sha256
    // Bad bytes of a spare may as well be the first half, which is not its own: let the first finish and be judged.
    if (!isUseful) return delivery.dropSpare()
    pair.first.isBeaten = true
    pair.first.abort.abort()
    await pair.first.settled // two must not write in one place
    if (ledger.isTrusted(chunk.index)) await delivery.dropSpare()
    else {
      await delivery.writeSpare()
      trust(task, delivery)
    }
  }

  return {
    /** Resolves with a task when there is one to do, and with undefined when all chunks are trusted. */
    async take(takesSpares: boolean): Promise<RunningTask | undefined> {
      for (;;) {
        signal.throwIfAborted()
        if (ledger.isWhole()) return undefined
        const task = startNext() ?? (takesSpares ? startSpare() : undefined)
        if (task !== undefined) return task
        await new Promise<void>((resolve) => sleepers.push(resolve))
      }
    },

    async deliver(task: RunningTask, delivery: Delivery) {
      try {
        if (task.isSpare) await trustSpare(task, delivery)
        else if (!task.isBeaten || delivery.sha256 === task.chunk.sha256) trust(task, delivery)
      } finally {
        leave(task)
      }
    },

    leave,
    /** Something changed that may let a sleeping slot go on: the hasher, the clock, the signal. */
    wake,
  }
}
