import type { PullEvent } from '../events.ts'
import { writtenBytes } from './board.ts'
import type { ChunkLedger } from './chunk-ledger.ts'
import type { ChunkWorker } from './chunk-worker.ts'
import type { Chunk } from './manifest.ts'
import type { PartialFile } from './partial-file.ts'

type Check = {
  ledger: ChunkLedger
  workers: readonly ChunkWorker[]
  report: (event: PullEvent) => void
}

/** Believes of what a former run left what has its hash. */
export async function checkFormerRun(
  { startingOver, claimed, board }: PartialFile,
  { ledger, workers, report }: Check,
): Promise<void> {
  if (startingOver !== undefined) report({ type: 'starting-over', reason: startingOver })
  const bytesTotal = claimed.reduce((sum, { size }) => sum + size, 0)
  const bad = await checkClaimed(claimed, ledger, workers, (bytesDone) =>
    report({ type: 'checking', bytesDone, bytesTotal }),
  )
  if (startingOver === undefined) {
    for (const { index } of bad) report({ type: 'bad-chunk', index, source: 'this disk' })
  }
  const bytes = writtenBytes(board)
  if (bytes > 0) report({ type: 'resumed', bytes })
}

/** Hashes chunks that are said to be on disk, in all workers. Answers the bad ones. */
export async function checkClaimed(
  claimed: readonly Chunk[],
  ledger: ChunkLedger,
  workers: readonly ChunkWorker[],
  onProgress: (bytesDone: number) => void,
): Promise<Chunk[]> {
  const bad: Chunk[] = []
  let next = 0
  let bytesDone = 0
  async function work(worker: ChunkWorker) {
    for (let chunk = claimed[next++]; chunk !== undefined; chunk = claimed[next++]) {
      if (!ledger.accept(chunk, await worker.check(chunk))) bad.push(chunk)
      bytesDone += chunk.size
      onProgress(bytesDone)
    }
  }
  await Promise.all(workers.map(work))
  return bad
}
