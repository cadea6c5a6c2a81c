/** The thread that `hash-file.ts` starts: it reads and hashes one file. */
import { type ChunkManifest, hashBlob, manifestOf } from '@shoal/model-file/browser'

export type HashMessage =
  | { type: 'progress'; bytesDone: number }
  | { type: 'done'; manifest: ChunkManifest }
  /** The browser cannot read the file any more. */
  | { type: 'unreadable' }

const tell = (message: HashMessage) => postMessage(message)

addEventListener('message', async ({ data }: MessageEvent<File>) => {
  try {
    const hashes = await hashBlob(data, (bytesDone) => tell({ type: 'progress', bytesDone }))
    tell({ type: 'done', manifest: manifestOf(hashes) })
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    tell({ type: 'unreadable' })
  }
})
