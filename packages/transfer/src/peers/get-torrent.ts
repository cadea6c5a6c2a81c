import { decodeBencode } from '@shoal/model-file'
import { ApiError, NetworkError, type RegistryClient } from '@shoal/protocol/client'

export type FileTorrent = {
  /** The content of the `.torrent` file (BEP 3). */
  torrent: Uint8Array
  /** Whether the torrent is available without signing in. Other torrents are never announced on local networks. */
  isOpen: boolean
}

type FileId = { modelId: string; fileId: string }

/** Gets a file's torrent from its registry: anonymously if possible, otherwise with the client's token. */
export async function getTorrent(
  client: RegistryClient,
  file: FileId,
  signal: AbortSignal,
): Promise<FileTorrent> {
  const anybody = client.with({ token: undefined })
  try {
    return {
      torrent: await ask(anybody, file, signal),
      isOpen: true,
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return {
      torrent: await ask(client, file, signal),
      isOpen: false,
    }
  }
}

/**
 * Requests a torrent. Checks that it can be parsed, because the response may come from something other than the
 * registry, or may have been damaged in transit.
 */
async function ask(
  client: RegistryClient,
  { modelId, fileId }: FileId,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const torrent = await client.getTorrent(modelId, fileId, signal)
  if (parseInfo(torrent)) return torrent
  const { host } = new URL(client.baseUrl)
  const detail = 'it returned a torrent that cannot be read'
  throw new NetworkError({ code: 'not_a_registry', reason: 'other_program', host, detail })
}

/** Whether the registry refuses access to the file or does not have it. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403, 404, 410].includes(error.status)

/**
 * Whether a torrent is private (BEP 27), as the torrents of private models are. A torrent that cannot be parsed counts
 * as private.
 */
export function isPrivateTorrent(torrent: Uint8Array): boolean {
  const info = parseInfo(torrent)
  return !info || info.get('private') === 1
}

function parseInfo(torrent: Uint8Array) {
  try {
    const content = decodeBencode(Buffer.from(torrent))
    const info = content instanceof Map ? content.get('info') : undefined
    return info instanceof Map ? info : undefined
  } catch {
    return undefined // not a bencoded value, and so not a torrent
  }
}
