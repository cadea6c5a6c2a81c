import { decodeBencode } from '@shoal/model-file'
import { ApiError, type RegistryClient } from '@shoal/protocol/client'

export type FileTorrent = {
  /** BEP 3. */
  torrent: Uint8Array
  /** Anybody may have it. Of what is for members alone nothing is said in local networks. */
  isOpen: boolean
}

/** A file's torrent as its registry gives it to anybody, or else to who has the client's token. */
export async function getTorrent(
  client: RegistryClient,
  { modelId, fileId }: { modelId: string; fileId: string },
  signal: AbortSignal,
): Promise<FileTorrent> {
  const anybody = client.with({ token: undefined })
  try {
    return { torrent: await anybody.getTorrent(modelId, fileId, signal), isOpen: true }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { torrent: await client.getTorrent(modelId, fileId, signal), isOpen: false }
  }
}

/** Not for us, or not there. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403, 404, 410].includes(error.status)

/** BEP 27: of a private model. */
export function isPrivateTorrent(torrent: Uint8Array): boolean {
  const content = decodeBencode(Buffer.from(torrent))
  const info = content instanceof Map ? content.get('info') : undefined
  return !(info instanceof Map) || info.get('private') === 1
}
