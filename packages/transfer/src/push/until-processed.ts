import type { ModelFile } from '@shoal/protocol/client'
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
  let current = file
  const startedAt = performance.now()
  while (current.status === 'processing') {
    report({ type: 'processing', bytesDone: bytesTotal, bytesTotal })
    const share = (performance.now() - startedAt) * pauseShare
    await sleep(Math.min(longestPauseMs, Math.max(shortestPauseMs, share)), signal)
    current = await client.getFile(modelName, file.id, signal)
  }
  return current
}
