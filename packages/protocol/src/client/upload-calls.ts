/** Calls that upload files. */
import type { DeclaredChunks, NewFile, NewUpload } from '../file.ts'
import * as routes from '../routes/uploads.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function uploadCalls({ json }: Connection) {
  return {
    /**
     * Starts an upload, or resumes the upload that an earlier call with the same manifest started. Returns the first
     * 100 missing chunks, each with a presigned URL to which it is sent with `PUT`.
     * @example
     * import { hashFileInWorker, makeManifest } from '@shoal/model-file'
     *
     * const manifest = makeManifest(await hashFileInWorker('tide-q4.gguf'))
     * const { id, upload } = await client.startUpload('tide', { filename: 'tide-q4.gguf', ...manifest })
     * for (const { index, url } of upload.missing_chunks) console.log(index, url)
     */
    startUpload: (model: string, file: NewFile, signal?: AbortSignal) =>
      json(to(routes.startUpload, { id: model }), {
        body: file,
        signal,
      }),
    /**
     * Starts the upload of a file before its hashes are known, or resumes the unfinished upload with this filename and
     * size. `declareChunks` returns URLs for the chunks. Before you complete the upload, call `startUpload` with the
     * complete manifest.
     * @example
     * const { id } = await client.reserveUpload('tide', { filename: 'tide-f16.gguf', file_size_bytes: 4e9 })
     * await client.deleteFile('tide', id) // cancels the upload
     */
    reserveUpload: (model: string, file: NewUpload, signal?: AbortSignal) =>
      json(to(routes.reserveUpload, { id: model }), { body: file, signal }),
    /**
     * Declares the hashes of up to 1,000 chunks, and returns the chunks that are still missing, each with a URL.
     * @example
     * const { id } = await client.reserveUpload('tide', { filename: 'tide-q5.gguf', file_size_bytes: 4e9 })
     * const hash = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03'
     * const chunk_hashes = [{ index: 0, hash, size: 16 * 1024 * 1024 }]
     * const { missing_chunks } = await client.declareChunks('tide', id, { chunk_hashes })
     * await client.deleteFile('tide', id)
     */
    declareChunks: (model: string, file: string, chunks: DeclaredChunks, signal?: AbortSignal) =>
      json(to(routes.declareChunks, { id: model, file_id: file }), {
        body: chunks,
        signal,
      }),
    /**
     * Lists an upload's missing chunks, starting at index `from`, each with a new URL.
     * @example
     * const { missing_chunks } = await client.getUpload('tide', upload.id, { from: 100, limit: 100 })
     */
    getUpload: (
      model: string,
      file: string,
      query: { from?: number; limit?: number } = {},
      signal?: AbortSignal,
    ) => json(to(routes.getUpload, { id: model, file_id: file }), { query, signal }),
    /**
     * Completes an upload after all chunks have been sent. The status of the file is `ready` once the registry has
     * verified it.
     * @example
     * const { status } = await client.completeUpload('tide', upload.id)
     */
    completeUpload: (model: string, file: string, signal?: AbortSignal) =>
      json(to(routes.completeUpload, { id: model, file_id: file }), {
        signal,
      }),
  }
}
