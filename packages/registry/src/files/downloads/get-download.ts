import { magnetUri } from '@shoal/model-file'
import { type Download, formatPath, routes } from '@shoal/protocol'
import { conflict } from '../../errors.ts'
import type { Site } from '../../http/site.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { BlobRepository, ReadyFile } from '../rows/blob-repository.ts'
import type { FileRow } from '../rows/file-row.ts'
import type { Capabilities, CapableFile } from './capability.ts'
import type { Manifests } from './manifests.ts'

const oneDaySeconds = 86_400

export type DownloadDependencies = {
  blobs: BlobRepository
  store: ObjectStore
  capabilities: Capabilities
  manifests: Manifests
  site: Site
}

/**
 * Returns the JSON text of a `Download`, which contains every way to download a file: a presigned URL, a torrent, a
 * magnet link and the chunk hashes.
 */
export async function describeDownload(
  dependencies: DownloadDependencies,
  file: ReadyFile,
): Promise<Buffer> {
  const { store, manifests } = dependencies
  const chunkHashes = await manifests.get(file)
  const torrent_info_hash =
    (file.is_public === 1 ? file.public_info_hash : file.private_info_hash) ?? ''
  const { torrentUrl, webSeed, announce } = torrentAddresses(dependencies, file)
  const download: Omit<Download, 'chunk_hashes'> = {
    direct_url: store.presignRead(file.object_key, {
      filename: file.filename,
      expiresInSeconds: oneDaySeconds,
    }),
    torrent_url: torrentUrl,
    magnet_uri: magnetUri({
      infoHash: torrent_info_hash,
      displayName: file.filename,
      webSeeds: [webSeed],
      trackers: [announce],
      exactSource: torrentUrl,
    }),
    torrent_info_hash,
    file_size_bytes: file.file_size_bytes,
    sha256_hash: file.sha256_hash,
  }
  const members = JSON.stringify(download).slice(1)
  return Buffer.concat([Buffer.from('{"chunk_hashes":'), chunkHashes, Buffer.from(`,${members}`)])
}

/** The SHA-256 of a ready file. Throws a conflict if the file is not ready. */
export function readyHash({ status, blob_hash, filename }: FileRow): string {
  if (status !== 'ready' || blob_hash === null)
    throw conflict(`${filename} is not ready (status: ${status})`)
  return blob_hash
}

/** The URLs of the torrent, the web seed and the tracker, with a token in the path if the file is private. */
export function torrentAddresses(
  { capabilities, site }: Pick<DownloadDependencies, 'capabilities' | 'site'>,
  file: Pick<CapableFile, 'id' | 'model_id' | 'blob_hash' | 'is_public' | 'visibility_version'>,
) {
  const token = file.is_public === 1 ? '' : `/${capabilities.accessToken(file)}`
  const base = site.baseUrl()
  const torrent = formatPath(routes.getTorrent.url, { model_id: file.model_id, file_id: file.id })
  const chunk = formatPath(routes.getChunk.url, { chunk_hash: `${file.blob_hash}` })
  return {
    torrentUrl: base + torrent + token,
    webSeed: base + chunk + token,
    announce: `${base}/announce${token}`,
  }
}
