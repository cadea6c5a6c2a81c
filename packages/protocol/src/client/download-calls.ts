/** Calls that download files. */
import * as routes from '../routes/downloads.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function downloadCalls({ exchange, json }: Connection) {
  return {
    /**
     * Returns the URLs and chunk hashes that are needed to download a file. The registry counts every call as a
     * download, so call this method only to download the file.
     * @example
     * const { direct_url, chunk_hashes } = await client.getDownload('tide', file.id)
     */
    getDownload: (model: string, file: string, signal?: AbortSignal) =>
      json(to(routes.getDownload, { model_id: model, file_id: file }), { signal }),
    /**
     * Returns the torrent file for a file of a model.
     * @example
     * import { writeFile } from 'node:fs/promises'
     *
     * const torrent = await client.getTorrent('tide', file.id)
     * await writeFile('tide.torrent', torrent)
     */
    async getTorrent(model: string, file: string, signal?: AbortSignal): Promise<Uint8Array> {
      const target = to(routes.getTorrent, { model_id: model, file_id: file })
      return (await exchange(target, { accept: 'application/x-bittorrent', signal })).body
    },
  }
}
