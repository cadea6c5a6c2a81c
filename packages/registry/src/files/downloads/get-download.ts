import { magnetUri, unpackHashes } from '@shoal/model-file'
import { type Download, formatPath, routes } from '@shoal/protocol'
import { conflict } from '../../errors.ts'
import type { Site } from '../../http/site.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { DownloadCounter } from '../counting/download-counter.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { FileRow } from '../rows/file-row.ts'
import type { Capabilities } from './capability.ts'

const oneDaySeconds = 86_400

export type DownloadDependencies = {
  blobs: BlobRepository
  store: ObjectStore
  downloads: DownloadCounter
  capabilities: Capabilities
  site: Site
}

/**
 * Every way to get a file's bytes: a presigned URL, a torrent, a magnet link and the chunk manifest. Counts a download.
 */
export async function getDownload(
  dependencies: DownloadDependencies,
  model: ModelRow,
  file: FileRow,
): Promise<Download> {
  const { blobs, store, downloads } = dependencies
  const { object_key, size_bytes, chunk_hashes } = await blobs.getChunks(readyHash(file))
  const torrent_info_hash = getInfoHash(model, file)
  const { torrentUrl, webSeed, announce } = torrentAddresses(dependencies, model, file)
  const download = {
    direct_url: store.presignRead(object_key, {
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
    chunk_hashes: unpackHashes(chunk_hashes, size_bytes),
    file_size_bytes: file.file_size_bytes,
    sha256_hash: file.sha256_hash,
  }
  await downloads.count(model.id) // last, so that failed calls are not counted
  return download
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
  model: Pick<ModelRow, 'id' | 'is_public' | 'visibility_version'>,
  file: Pick<FileRow, 'id' | 'blob_hash'>,
) {
  const bearer = { id: file.id, visibility_version: model.visibility_version }
  const token = model.is_public === 1 ? '' : `/${capabilities.accessToken(bearer)}`
  const base = site.baseUrl()
  const torrent = formatPath(routes.getTorrent.url, { model_id: model.id, file_id: file.id })
  const chunk = formatPath(routes.getChunk.url, { chunk_hash: `${file.blob_hash}` })
  return {
    torrentUrl: base + torrent + token,
    webSeed: base + chunk + token,
    announce: `${base}/announce${token}`,
  }
}

export function getInfoHash(model: Pick<ModelRow, 'is_public'>, file: FileRow): string {
  return (model.is_public === 1 ? file.public_info_hash : file.private_info_hash) ?? ''
}
