/** The worker that `hash-file.ts` starts. It handles one request and sends the result. */
import type { ChunkHash, ChunkManifest } from '@shoal/model-file/browser'
import { hashBlob, hashChunkOfBlob } from './hash-blob.ts'
import type { PartialHash } from './partial-hash.ts'

/**
 * A request to hash a file and all its chunks, or only one chunk if its index is given in `chunk`. The chunks in `from`
 * are not hashed again.
 */
export type HashRequest = { file: File; from?: PartialHash | undefined; chunk?: number }

export type HashMessage =
  /** `partial` is set about once a second. */
  | { type: 'progress'; bytesDone: number; partial: PartialHash | undefined }
  | { type: 'chunk'; chunk: ChunkHash }
  | { type: 'hashed'; manifest: ChunkManifest }
  | { type: 'chunk hashed'; hash: string }
  /** The browser can no longer read the file. */
  | { type: 'unreadable' }
  /** Any other error, for example in a browser without WebAssembly. */
  | { type: 'failed'; reason: string }

/** Minimum time between two partial results, which the page stores. */
const pauseMs = 1000

const report = (message: HashMessage) => postMessage(message)

addEventListener('message', async ({ data }: MessageEvent<HashRequest>) => {
  try {
    report(await hash(data))
  } catch (error) {
    if (error instanceof DOMException) report({ type: 'unreadable' })
    else report({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
})

async function hash({ file, from, chunk }: HashRequest): Promise<HashMessage> {
  if (chunk !== undefined) {
    return { type: 'chunk hashed', hash: await hashChunkOfBlob(file, chunk) }
  }
  let savedAt = Number.NEGATIVE_INFINITY
  const manifest = await hashBlob(file, {
    from,
    onChunk: (chunk) => report({ type: 'chunk', chunk }),
    onProgress(bytesDone, save) {
      const now = performance.now()
      const isDue = now - savedAt >= pauseMs
      if (isDue) savedAt = now
      report({ type: 'progress', bytesDone, partial: isDue ? save() : undefined })
    },
  })
  return { type: 'hashed', manifest }
}
