/**
 * The registry's response to the download request at the start of a pull, saved beside the partial file. A resumed pull
 * uses the saved response as long as its URLs work, because each new download request counts as a download. The URLs
 * give access to the bytes without signing in, so only the user may read the saved response.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/files'
import type { Download, ModelFile } from '@shoal/protocol/client'
import { getFilePaths } from './file-paths.ts'
import { urlExpiry } from './url-expiry.ts'

export type DownloadIdentity = {
  /** The registry's base URL. */
  registry: string
  model_id: string
  file_id: string
  sha256_hash: string
}

type Kept = DownloadIdentity & { format: 1; download: Download }

/**
 * Flags that open a file for reading without following a link, and without waiting for a writer if the file is a pipe.
 */
const onlyAFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Maximum size of a saved response, far more than any manifest needs. A larger file was not written by shoal. */
const maxBytes = 256 * 1024 * 1024

export const toDownloadIdentity = (registry: string, file: ModelFile): DownloadIdentity => ({
  registry,
  model_id: file.model_id,
  file_id: file.id,
  sha256_hash: file.sha256_hash,
})

/** Saves the registry's response. The caller must hold the file's lock. */
export async function keepDownload(path: string, identity: DownloadIdentity, download: Download) {
  const place = getFilePaths(path).download
  const unfinished = `${place}.new`
  const kept: Kept = { format: 1, ...identity, download }
  const json = JSON.stringify(kept)
  makeFolder(dirname(place))
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', 0o600) // fails if someone has created a link there
  try {
    await handle.writeFile(`${computeChecksum(json)}\n${json}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, place)
}

/**
 * Returns the response saved for this file; undefined if there is none or it cannot be used: it is damaged, belongs to
 * a different file or user, is accessible to other users, or its direct URL has expired.
 */
export async function readKeptDownload(
  path: string,
  identity: DownloadIdentity,
): Promise<Download | undefined> {
  const text = await readPrivate(getFilePaths(path).download)
  const kept = text === undefined ? undefined : parseKept(text)
  if (kept === undefined || !isSameDownload(kept, identity)) return undefined
  const expiresAt = urlExpiry(kept.download.direct_url)
  return expiresAt !== undefined && expiresAt <= Date.now() ? undefined : kept.download
}

export async function forgetDownload(path: string): Promise<void> {
  const { download } = getFilePaths(path)
  await rm(download, { force: true })
  await rm(`${download}.new`, { force: true })
}

/**
 * Returns the content of a file that only this user can access; undefined if there is no such file, or if it is not a
 * regular file, belongs to another user, is accessible to other users or is larger than `maxBytes`.
 */
async function readPrivate(place: string): Promise<string | undefined> {
  const handle = await open(place, onlyAFile).catch((error) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EMLINK'].includes(error.code)) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const found = await handle.stat()
    const isOurs =
      process.platform === 'win32' || // Windows has neither owner IDs nor modes
      (found.uid === process.getuid?.() && (found.mode & 0o077) === 0)
    if (!found.isFile() || !isOurs || found.size > maxBytes) return undefined
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

function parseKept(text: string): Kept | undefined {
  const [checksum, json = ''] = text.split('\n')
  if (checksum !== computeChecksum(json)) return undefined
  const kept: Kept = JSON.parse(json) // valid, since its checksum matches
  return kept.format === 1 ? kept : undefined
}

function isSameDownload(kept: Kept, identity: DownloadIdentity) {
  return (
    kept.registry === identity.registry &&
    kept.model_id === identity.model_id &&
    kept.file_id === identity.file_id &&
    kept.sha256_hash === identity.sha256_hash
  )
}

function computeChecksum(json: string): string {
  return createHash('sha256').update(json).digest('hex')
}
