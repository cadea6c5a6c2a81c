/** Calls that read information about files. */
import type { FileRecord, ModelFile } from '../file.ts'
import * as routes from '../routes/files.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function fileCalls({ json }: Connection) {
  return {
    /**
     * Lists the ready files of a model, smallest first. With `status: 'all'`, the owner and
     * administrators get all files.
     * @example
     * const files = await client.listFiles('tide', { status: 'all' })
     */
    listFiles: (model: string, query: { status?: 'ready' | 'all' } = {}, signal?: AbortSignal) =>
      json<ModelFile[]>(to(routes.listFiles, { id: model }), { query, signal }),
    /**
     * Returns a file with the metadata of its GGUF header and a summary of its tensors.
     * @example
     * const { metadata, tensors } = await client.getFile('tide', file.id)
     */
    getFile: (model: string, file: string, signal?: AbortSignal) =>
      json<FileRecord>(to(routes.getFile, { id: model, file_id: file }), { signal }),
  }
}
