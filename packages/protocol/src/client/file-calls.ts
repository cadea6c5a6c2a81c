/** Calls that read information about files. */
import * as routes from '../routes/files.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function fileCalls({ json }: Connection) {
  return {
    /**
     * Lists the ready files of a model, smallest first. With `status: 'all'`, the owner, members and administrators get
     * all files.
     * @example
     * const files = await client.listFiles('tide', { status: 'all' })
     */
    listFiles: (model: string, query: { status?: 'ready' | 'all' } = {}, signal?: AbortSignal) =>
      json(to(routes.listFiles, { id: model }), { query, signal }),
    /**
     * Finds files by their SHA-256 hashes, at most 1,000 per call. Hashes of files that the registry does not have, or
     * that the caller may not read, are left out.
     * @example
     * const [found] = await client.lookUpFiles([file.sha256_hash])
     * console.log(found?.model_name) // tide
     */
    lookUpFiles: (sha256_hashes: readonly string[], signal?: AbortSignal) =>
      json(to(routes.lookUpFiles), { body: { sha256_hashes: [...sha256_hashes] }, signal }),
    /**
     * Returns a file with the metadata of its GGUF header and a summary of its tensors.
     * @example
     * const { metadata, tensors } = await client.getFile('tide', file.id)
     */
    getFile: (model: string, file: string, signal?: AbortSignal) =>
      json(to(routes.getFile, { id: model, file_id: file }), { signal }),
  }
}
