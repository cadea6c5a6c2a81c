import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeBencode } from '@shoal/model-file'
import { ApiError, registryClient } from '@shoal/protocol/client'
import { type LocalFile, listLocalFiles } from '../local/list-local-files.ts'
import { placesOf } from '../local/places.ts'
import type { FileRecord } from '../local/record.ts'
import type { SharedFile } from './seed-messages.ts'

export type ShareableOptions = {
  modelsDirectory: string
  /** Whose files may be asked for in the name of who has the token; those of other registries as by anybody. */
  registry?: { address: string; token: string | undefined } | undefined
  /** Whether files of private models are shared too, with whoever has their torrent. */
  isPrivateShared?: boolean | undefined
  /** Told where a torrent cannot be kept beside its file. */
  onProblem(path: string, message: string): void
}

/** A public file may become private, or go: so long the registry's word holds. */
const wordHoldsMs = 60 * 60_000
const patienceMs = 10_000

/** A file that came from a registry and has not been changed since. */
type Pulled = LocalFile & { record: FileRecord; fileSizeBytes: number }

/** The registry's word on one file: its torrent, or that there is none for us. */
type Word = { torrent: Uint8Array | undefined; until: number }

/**
 * Finds what may be shared of a folder of models: files that a pull has verified, with the torrent that their registry has for
 * them now. A torrent that is public is kept beside its file, so that a registry that is away is not missed.
 */
export function shareableFiles(options: ShareableOptions) {
  const { modelsDirectory, registry, isPrivateShared = false, onProblem } = options
  const words = new Map<string, Word>()

  async function ask({ record, path }: Pulled, signal: AbortSignal): Promise<Word | undefined> {
    const { address, token } = registry ?? {}
    const baseUrl = record.registry
    const client = registryClient({ baseUrl, token: baseUrl === address ? token : undefined })
    const until = performance.now() + wordHoldsMs
    const place = placesOf(path).torrent
    try {
      const soon = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
      const torrent = await client.getTorrent(record.model_id, record.file_id, soon)
      const isPublic = !isPrivate(torrent)
      const kept = isPublic ? keep(place, torrent) : rm(place, { force: true })
      await kept.catch((error: Error) => onProblem(path, error.message))
      return { torrent: isPublic || isPrivateShared ? torrent : undefined, until }
    } catch (error) {
      signal.throwIfAborted()
      if (!isRefusal(error)) return undefined // it is away: another time
      await rm(place, { force: true })
      return { torrent: undefined, until }
    }
  }

  async function findTorrent(file: Pulled, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const key = `${file.record.registry} ${file.record.file_id}`
    const known = words.get(key)
    if (known && performance.now() < known.until) return known.torrent
    const word = await ask(file, signal)
    if (!word) return known?.torrent ?? readKept(placesOf(file.path).torrent)
    words.set(key, word)
    return word.torrent
  }

  return async (signal: AbortSignal): Promise<SharedFile[]> => {
    const files = ((await listLocalFiles(modelsDirectory)) as Pulled[]).filter(isPulled)
    const torrents = await Promise.all(files.map((file) => findTorrent(file, signal)))
    const shareable = files.flatMap((file, index) => {
      const { path, fileSizeBytes } = file
      const torrent = torrents[index]
      return torrent ? [[torrentKey(file), { path, fileSizeBytes, torrent }] as const] : []
    })
    return [...new Map(shareable).values()]
  }
}

function isPulled({ isFinished, record, modifiedAt }: LocalFile): boolean {
  if (!isFinished || !record) return false
  return Math.abs(record.modified_at - modifiedAt.getTime()) < 1 // a date has no parts of a millisecond
}

/** Copies of a file under one name are one torrent, and shared once. */
const torrentKey = ({ filename, record }: Pulled) => `${record.sha256_hash} ${filename}`

/** Not for us, or not there. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && [401, 403, 404, 410].includes(error.status)

/** BEP 27. */
function isPrivate(torrent: Uint8Array): boolean {
  const content = decodeBencode(Buffer.from(torrent))
  const info = content instanceof Map ? content.get('info') : undefined
  return !(info instanceof Map) || info.get('private') === 1
}

async function readKept(place: string): Promise<Uint8Array | undefined> {
  return readFile(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

async function keep(place: string, torrent: Uint8Array) {
  await mkdir(dirname(place), { recursive: true })
  await writeFile(`${place}.new`, torrent)
  await rename(`${place}.new`, place)
}
