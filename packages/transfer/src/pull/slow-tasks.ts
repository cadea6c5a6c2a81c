import type { Board } from './board.ts'
import type { RunningTask } from './chunk-queue.ts'

/**
 * The running task that a second request would most likely overtake, or undefined: the one furthest from its end, if
 * the usual rate would finish it in less than half of that time. Rates are in bytes per millisecond.
 */
export function slowestOf(
  tasks: RunningTask[],
  { written }: Board,
  { typicalRate, patienceMs }: { typicalRate: number; patienceMs: number },
): RunningTask | undefined {
  const now = performance.now()
  const estimates = tasks.map((task) => {
    const here = Atomics.load(written, task.chunk.index)
    const elapsed = Math.max(1, now - task.startedAt)
    const rate = Math.max(0, here - task.from) / elapsed
    const left = task.chunk.size - here
    return { task, elapsed, msLeft: rate === 0 ? Number.POSITIVE_INFINITY : left / rate, left }
  })
  const slow = estimates.filter(({ elapsed, msLeft, left }) => {
    if (left === 0 || elapsed < patienceMs || msLeft < patienceMs) return false
    // Before any chunk is done there is no usual rate: only silence is slow.
    return msLeft > (typicalRate === 0 ? Number.MAX_VALUE : (2 * left) / typicalRate)
  })
  return slow.sort((one, other) => (one.msLeft < other.msLeft ? 1 : -1))[0]?.task
}
