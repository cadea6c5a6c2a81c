import { TransferError, type TransferFailure } from '../failure.ts'
import type { Retrier } from '../retrier.ts'
import type { Board } from './board.ts'
import type { ChunkQueue } from './chunk-queue.ts'
import type { ChunkSource } from './chunk-source.ts'

type Serving = {
  queue: ChunkQueue
  board: Board
  retrier: Retrier
  signal: AbortSignal
  /** Handles a failure: waits before the next attempt, or throws an error to end the pull. */
  onFailure(failure: TransferFailure, inARow: number): Promise<void>
}

/** Supplies all slots of a source with tasks from the queue until every chunk is trusted. */
export async function serveSource(source: ChunkSource, serving: Serving): Promise<void> {
  const slots = Array.from({ length: source.slots }, (_, slot) => serveSlot(source, slot, serving))
  await Promise.all(slots)
}

async function serveSlot(source: ChunkSource, slot: number, serving: Serving) {
  const { queue, board, retrier, signal, onFailure } = serving
  let inARow = 0
  for (;;) {
    await retrier.waitUntilOpen()
    const turn = await source.turn()
    const task = await queue.take(() => source.canGoOn() && !turn.aborted)
    if (task === undefined) return
    try {
      turn.throwIfAborted()
      queue.deliver(task, await source.fetch(task, slot, turn))
      inARow = 0
    } catch (error) {
      queue.leave(task)
      signal.throwIfAborted()
      if (turn.aborted) continue // other sources fetch the rest of the chunk
      if (task.abort.signal.aborted) continue // the request was too slow: another request fetches the rest of the chunk
      if (!(error instanceof TransferError)) throw error
      // A connection that breaks after every 10 MiB still makes progress, so its failures are not counted as
      // consecutive.
      const hasMoved = Atomics.load(board.written, task.chunk.index) > task.from
      inARow = hasMoved ? 1 : inARow + 1
      await onFailure(error.transferFailure, inARow)
    }
  }
}
