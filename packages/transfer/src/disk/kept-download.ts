/**
 * Beside an unfinished file: what the registry answered when the pull began. A pull that goes on asks again only where
 * that is of no use any more, since every answer counts as a download. The URLs in it open the bytes for whoever has
 * them, so only the user may read it.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'
import type { Download, ModelFile } from '@shoal/protocol/client'
import { getFilePaths } from './file-paths.ts'
import { urlExpiry } from './url-expiry.ts'

export type DownloadIdentity = {
  /** The registry's address. */
  registry: string
  model_id: string
  file_id: string
  sha256_hash: string
}

type Kept = DownloadIdentity & { format: 1; download: Download }

/** Neither follows a link nor waits for the other end of a pipe. */
const onlyAFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Far more than the manifest of any file takes; a larger one is not ours. */
const maxBytes = 256 * 1024 * 1024

export const toDownloadIdentity = (registry: string, file: ModelFile): DownloadIdentity => ({
  registry,
  model_id: file.model_id,
  file_id: file.id,
  sha256_hash: file.sha256_hash,
})

/** To be called by whoever holds the file's lock. */
export async function keepDownload(path: string, identity: DownloadIdentity, download: Download) {
  const place = getFilePaths(path).download
  const unfinished = `${place}.new`
  const kept: Kept = { format: 1, ...identity, download }
  const json = JSON.stringify(kept)
  makeFolder(dirname(place))
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', 0o600) // not through a link that somebody put there
  try {
    await handle.writeFile(`${computeChecksum(json)}\n${json}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, place)
}

/** What was kept for this very file, unless it is damaged, somebody else's, or its URL has expired: then undefined. */
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

/** Undefined where there is none, or none that only this user could have written. */
async function readPrivate(place: string): Promise<string | undefined> {
  const handle = await open(place, onlyAFile).catch((error) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EMLINK'].includes(error.code)) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const found = await handle.stat()
    const isOurs =
      process.platform === 'win32' || // which has neither
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
  const kept: Kept = JSON.parse(json) // as we wrote it, by its checksum
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
