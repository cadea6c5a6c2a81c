import { directNetwork, type NetworkSettings, registryTransport } from '@shoal/network'
import { registryClient } from '@shoal/protocol/client'
import { forgetTorrent, keepTorrent, readKeptTorrent } from '../disk/kept-torrent.ts'
import { type LocalFile, listLocalFiles } from '../disk/list-local-files.ts'
import { isOfRegistry, type RegistryRecord } from '../disk/record.ts'
import { type FileTorrent, getTorrent, isPrivateTorrent, isRefusal } from '../peers/get-torrent.ts'
import type { SharedFile } from './seed-messages.ts'

export type ShareableOptions = {
  modelsDirectory: string
  /** The token is sent only to this registry. Requests to other registries are anonymous. */
  registry?: { address: string; token: string | undefined } | undefined
  /** Whether to also share files of private models. Anyone who has the torrent of such a file can then download it. */
  isPrivateShared?: boolean | undefined
  /** How to reach registries. Default: direct connections. */
  network?: NetworkSettings | undefined
  /** Called when a file is not shared, or when a torrent cannot be saved beside its file. */
  onProblem(path: string, message: string): void
}

/**
 * How long a registry's response is cached. The time is limited, because a public file may become private or be
 * deleted.
 */
const answerTtlMs = 60 * 60_000
const requestTimeoutMs = 10_000

/** A file that was pulled from a registry, or imported as a file of a registry, and has not been modified since. */
type Pulled = LocalFile & { record: RegistryRecord; fileSizeBytes: number }

/** The registry's response for one file. `found` is its torrent, or undefined if the file may not be shared. */
type CachedAnswer = { found: FileTorrent | undefined; until: number }

/**
 * Finds the shareable files in a models folder: files that have not changed since they were pulled or imported, each
 * with its current torrent from its registry. The torrent of a public file is saved beside it, so that the file can be
 * shared while its registry is offline.
 */
export function shareableFiles(options: ShareableOptions) {
  const { modelsDirectory, registry, isPrivateShared = false, onProblem } = options
  const transport = registryTransport(options.network ?? directNetwork)
  const answers = new Map<string, CachedAnswer>()
  /** Paths of files already reported as pulled or imported without sharing. */
  const reported = new Set<string>()

  async function ask(
    { record, path }: Pulled,
    signal: AbortSignal,
  ): Promise<CachedAnswer | undefined> {
    const { address, token } = registry ?? {}
    const baseUrl = record.registry
    const ownToken = baseUrl === address ? token : undefined
    const client = registryClient({ baseUrl, token: ownToken, transport })
    const until = performance.now() + answerTtlMs
    const ids = { modelId: record.model_id, fileId: record.file_id }
    try {
      const soon = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)])
      const found = await getTorrent(client, ids, soon)
      const kept = found.isOpen ? keepTorrent(path, found.torrent) : forgetTorrent(path)
      await kept.catch((error: Error) => onProblem(path, error.message))
      const isShared = isPrivateShared || !isPrivateTorrent(found.torrent)
      return { found: isShared ? found : undefined, until }
    } catch (error) {
      signal.throwIfAborted()
      if (!isRefusal(error)) return undefined // the registry is offline: try again later
      await forgetTorrent(path)
      return { found: undefined, until }
    }
  }

  async function find(file: Pulled, signal: AbortSignal): Promise<FileTorrent | undefined> {
    const key = `${file.record.registry} ${file.record.file_id}`
    const known = answers.get(key)
    if (known && performance.now() < known.until) return known.found
    const answer = await ask(file, signal)
    if (!answer) return known?.found ?? kept(file.path)
    answers.set(key, answer)
    return answer.found
  }

  function isWanted({ path, record, imported }: Pulled): boolean {
    if (record.without_peers && !reported.has(path)) {
      onProblem(
        path,
        imported
          ? 'it was imported; to share it, import it again with --registry and --share'
          : 'it was pulled with --no-peers; to share it, pull it again without that flag',
      )
    }
    if (record.without_peers) reported.add(path)
    else reported.delete(path)
    return !record.without_peers
  }

  return async (signal: AbortSignal): Promise<SharedFile[]> => {
    const files = ((await listLocalFiles(modelsDirectory)) as Pulled[])
      .filter(({ isVerified, record }) => isVerified && record && isOfRegistry(record))
      .filter(isWanted)
    const torrents = await Promise.all(files.map((file) => find(file, signal)))
    const shareable = files.flatMap((file, index) => {
      const { path, fileSizeBytes } = file
      const found = torrents[index]
      return found ? [[torrentKey(file), { path, fileSizeBytes, ...found }] as const] : []
    })
    return [...new Map(shareable).values()]
  }
}

/** A key for a file's torrent. Copies with the same name have the same torrent, so only one of them is shared. */
const torrentKey = ({ filename, record }: Pulled) => `${record.sha256_hash} ${filename}`

async function kept(path: string): Promise<FileTorrent | undefined> {
  const torrent = await readKeptTorrent(path)
  return torrent && { torrent, isOpen: true }
}
