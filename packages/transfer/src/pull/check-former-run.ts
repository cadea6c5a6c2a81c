import { writtenBytes } from '../chunks/board.ts'
import { checkClaimed } from '../chunks/check-claimed.ts'
import type { ChunkChecker } from '../chunks/chunk-checker.ts'
import type { ChunkLedger } from '../chunks/chunk-ledger.ts'
import type { PartialFile } from '../disk/partial-file.ts'
import type { PullEvent } from '../events.ts'

type Check = {
  ledger: ChunkLedger
  checkers: readonly ChunkChecker[]
  report: (event: PullEvent) => void
}

/** Verifies the chunks of an earlier run, and keeps those that match their hashes. */
export async function checkFormerRun(
  { startingOver, claimed, board }: PartialFile,
  { ledger, checkers, report }: Check,
): Promise<void> {
  if (startingOver !== undefined) report({ type: 'starting-over', reason: startingOver })
  const bytesTotal = claimed.reduce((sum, { size }) => sum + size, 0)
  const bad = await checkClaimed(claimed, ledger, checkers, (bytesDone) =>
    report({ type: 'checking', bytesDone, bytesTotal }),
  )
  if (startingOver === undefined) {
    for (const { index } of bad) report({ type: 'bad-chunk', index, source: 'this disk' })
  }
  const bytes = writtenBytes(board)
  if (bytes > 0) report({ type: 'resumed', bytes })
}
