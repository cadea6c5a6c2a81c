import type { ChunkChecker } from './chunk-checker.ts'
import type { ChunkLedger } from './chunk-ledger.ts'
import type { Chunk } from './manifest.ts'

/**
 * Hashes chunks that are supposed to be on disk, and passes the hashes to the ledger. Each checker hashes one chunk at
 * a time. Resolves with the chunks whose hashes are wrong. `onProgress` is called with the number of bytes hashed so
 * far.
 */
export async function checkClaimed(
  claimed: readonly Chunk[],
  ledger: ChunkLedger,
  checkers: readonly ChunkChecker[],
  onProgress: (bytesDone: number) => void,
): Promise<Chunk[]> {
  const bad: Chunk[] = []
  let next = 0
  let bytesDone = 0
  async function work(checker: ChunkChecker) {
    for (let chunk = claimed[next++]; chunk !== undefined; chunk = claimed[next++]) {
      if (!ledger.accept(chunk, await checker.check(chunk))) bad.push(chunk)
      bytesDone += chunk.size
      onProgress(bytesDone)
    }
  }
  await Promise.all(checkers.map(work))
  return bad
}
