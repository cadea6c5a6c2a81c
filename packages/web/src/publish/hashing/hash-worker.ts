/** The worker that `hash-file.ts` starts. It handles one request and sends the result. */
import type { ChunkManifest } from '@shoal/model-file/browser'
import { hashBlob, hashChunkOfBlob } from './hash-blob.ts'

/** A request to hash a file and all its chunks, or only the chunk with the index `chunk`. */
export type HashRequest = { file: File; chunk?: number }

export type HashMessage =
  | { type: 'progress'; bytesDone: number }
  | { type: 'hashed'; manifest: ChunkManifest }
  | { type: 'chunk hashed'; hash: string }
  /** The browser can no longer read the file. */
  | { type: 'unreadable' }
  /** Any other error, for example in a browser without WebAssembly. */
  | { type: 'failed'; reason: string }

const report = (message: HashMessage) => postMessage(message)

addEventListener('message', async ({ data }: MessageEvent<HashRequest>) => {
  try {
    report(await hash(data))
  } catch (error) {
    if (error instanceof DOMException) report({ type: 'unreadable' })
    else report({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
})

async function hash({ file, chunk }: HashRequest): Promise<HashMessage> {
  if (chunk !== undefined) {
    return { type: 'chunk hashed', hash: await hashChunkOfBlob(file, chunk) }
  }
  const manifest = await hashBlob(file, (bytesDone) => report({ type: 'progress', bytesDone }))
  return { type: 'hashed', manifest }
}
