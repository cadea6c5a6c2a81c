import { type ModelFile, UnreachableError } from '@shoal/protocol/client'
import { patience as newPatience } from '../patience.ts'
import { sleep } from '../sleep.ts'
import type { Push } from './push-file.ts'

const shortestPauseMs = 100
const longestPauseMs = 2000
/** Of the time that it has taken: no wait makes a push much longer. */
const pauseShare = 0.1

/** Waits until the registry has hashed and read the file; it may restart meanwhile. */
export async function untilProcessed(push: Push, file: ModelFile): Promise<ModelFile> {
  const { client, modelName, manifest, signal, report } = push
  const bytesTotal = manifest.file_size_bytes
  let answers = 0
  const patience = newPatience({
    movedBytes: () => answers,
    longestWaitMs: 10_000,
    giveUpMs: push.giveUpMs ?? 10 * 60_000,
    signal,
    report,
  })

  let current = file
  const startedAt = performance.now()
  let troubles = 0
  while (current.status === 'processing') {
    report({ type: 'processing', bytesDone: bytesTotal, bytesTotal })
    const share = (performance.now() - startedAt) * pauseShare
    await sleep(Math.min(longestPauseMs, Math.max(shortestPauseMs, share)), signal)
    await patience.gate()
    try {
      current = await client.getFile(modelName, file.id, signal)
      answers += 1
      troubles = 0
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      troubles += 1
      await patience.endure({ kind: 'lost', message: error.message }, troubles)
    }
  }
  return current
}
