/** The thread that `hash-file.ts` starts: it does one order and tells what comes of it. */
import type { ChunkManifest } from '@shoal/model-file/browser'
import { hashBlob, hashChunkOfBlob } from './hash-blob.ts'

/** To hash a file and all of its chunks, or that chunk alone. */
export type HashOrder = { file: File; chunk?: number }

export type HashMessage =
  | { type: 'progress'; bytesDone: number }
  | { type: 'hashed'; manifest: ChunkManifest }
  | { type: 'chunk hashed'; hash: string }
  /** The browser cannot read the file any more. */
  | { type: 'unreadable' }
  /** By any other error, such as that of a browser without WebAssembly. */
  | { type: 'failed'; reason: string }

const tell = (message: HashMessage) => postMessage(message)

addEventListener('message', async ({ data }: MessageEvent<HashOrder>) => {
  try {
    tell(await hash(data))
  } catch (error) {
    if (error instanceof DOMException) tell({ type: 'unreadable' })
    else tell({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
})

async function hash({ file, chunk }: HashOrder): Promise<HashMessage> {
  if (chunk !== undefined) {
    return { type: 'chunk hashed', hash: await hashChunkOfBlob(file, chunk) }
  }
  const manifest = await hashBlob(file, (bytesDone) => tell({ type: 'progress', bytesDone }))
  return { type: 'hashed', manifest }
}
