import type { ChunkManifest } from '@shoal/model-file/browser'
import { fileChanged } from './file-changed.ts'
import type { HashMessage } from './hash-worker.ts'

type Options = { signal: AbortSignal; onProgress: (bytesDone: number) => void }

/** The hashes of a file, found in a thread of their own, so that the page stays lively. */
export function hashFile(file: File, { signal, onProgress }: Options): Promise<ChunkManifest> {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  const stop = new AbortController()
  return new Promise<ChunkManifest>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal })
    worker.onerror = ({ message }) => reject(new Error(`the hashing failed: ${message}`))
    worker.onmessage = ({ data }: MessageEvent<HashMessage>) => {
      if (data.type === 'progress') onProgress(data.bytesDone)
      else if (data.type === 'done') resolve(data.manifest)
      else reject(fileChanged(file.name))
    }
    worker.postMessage(file)
  }).finally(() => {
    stop.abort()
    worker.terminate()
  })
}
