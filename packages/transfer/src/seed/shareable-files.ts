import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type LocalFile, listLocalFiles } from '../local/list-local-files.ts'
import { placesOf } from '../local/places.ts'
import type { FileRecord } from '../local/record.ts'
import type { SharedFile } from './seed-messages.ts'

/** A file that came from a registry and has not been changed since. */
type Pulled = LocalFile & { record: FileRecord; fileSizeBytes: number }

/**
 * What may be shared of a folder of models: files that a pull has verified, with the torrent of their registry. A file whose
 * torrent strangers may not have is private, and left out.
 */
export async function findShareableFiles(
  modelsDirectory: string,
  signal: AbortSignal,
): Promise<SharedFile[]> {
  const files = ((await listLocalFiles(modelsDirectory)) as Pulled[]).filter(isPulled)
  const torrents = await Promise.all(files.map((file) => findTorrent(file, signal)))
  return files.flatMap(({ path, fileSizeBytes }, index) => {
    const torrent = torrents[index]
    return torrent ? [{ path, fileSizeBytes, torrent }] : []
  })
}

function isPulled({ isFinished, record, modifiedAt }: LocalFile): boolean {
  if (!isFinished || !record) return false
  return Math.abs(record.modified_at - modifiedAt.getTime()) < 1 // a date has no parts of a millisecond
}

/** Kept beside the file once it was fetched, so that a registry that is gone is not missed. */
async function findTorrent(
  { path, record }: Pulled,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const place = placesOf(path).torrent
  const kept = await readFile(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (kept) return kept
  const url = `${record.registry}/v1/files/${record.model_id}/torrent/${record.file_id}`
  const response = await fetch(url, { signal }).catch(() => undefined) // the registry is away: another time
  if (!response?.ok) return undefined
  const torrent = new Uint8Array(await response.arrayBuffer())
  await mkdir(dirname(place), { recursive: true })
  await writeFile(`${place}.new`, torrent)
  await rename(`${place}.new`, place)
  return torrent
}
