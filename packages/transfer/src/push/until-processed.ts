import { sleep } from '@shoal/core/async'
import type { ModelFile } from '@shoal/protocol/client'
import type { BlobPush } from './push-options.ts'

const minPauseMs = 100
const maxPauseMs = 2000
/** The length of a pause as a share of the elapsed time, so that pauses never make a push much longer. */
const pauseShare = 0.1

/** Polls until the registry has finished hashing and reading the file. The registry may restart in the meantime. */
export async function untilProcessed(push: BlobPush, file: ModelFile): Promise<ModelFile> {
  const { client, modelName, retrier, signal, report } = push
  let current = file
  const startedAt = performance.now()
  while (current.status === 'processing') {
    report({ type: 'processing' })
    const share = (performance.now() - startedAt) * pauseShare
    await sleep(Math.min(maxPauseMs, Math.max(minPauseMs, share)), signal)
    current = await retrier.call(() => client.getFile(modelName, file.id, signal))
  }
  return current
}
