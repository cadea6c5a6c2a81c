import type { Clock } from '@shoal/core/async'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../database/schema.ts'
import { notFound } from '../../errors.ts'
import type { Capabilities } from '../../files/downloads/capability.ts'
import { privateSwarm, publicSwarm } from '../../swarm/swarm.ts'
import { trackedFileRepository } from './tracked-file-repository.ts'

/** A torrent that is tracked, because its file is ready. */
export type TrackedTorrent = {
  /** The name of the torrent's swarm. */
  swarm: string
  isPrivate: boolean
}

/** Finds tracked torrents by info hash, and checks who may use them. */
export interface TrackedTorrents {
  /**
   * Returns the torrent of a public file, or, if there is a token in the URL's path, the torrent to which the token
   * gives access. A private torrent without its token is treated as unknown. Throws for an invalid token.
   */
  find(infoHash: string, token: string | undefined): Promise<TrackedTorrent | undefined>
  /**
   * Like `find`.
   * @throws not-found if the torrent is not tracked
   */
  get(infoHash: string, token: string | undefined): Promise<TrackedTorrent>
}

/**
 * How long a result is cached. A file that was deleted, or made public or private, may still be tracked as before for
 * this long.
 */
const cacheTtlMs = 2_000

type Dependencies = {
  db: Kysely<Database>
  capabilities: Capabilities
  clock: Clock
  maxCached?: number
}

export function trackedTorrents({
  db,
  capabilities,
  clock,
  maxCached = 10_000,
}: Dependencies): TrackedTorrents {
  const files = trackedFileRepository(db)
  const cache = new LRUCache<string, { torrent: TrackedTorrent; readAt: number }>({
    max: maxCached,
  })

  async function read(infoHash: string, token: string | undefined) {
    if (token === undefined) {
      const isTracked = await files.isPublic(infoHash)
      return isTracked ? { swarm: publicSwarm(infoHash), isPrivate: false } : undefined
    }
    const file = await capabilities.getByAccessToken(token)
    const isTracked = file.is_public === 0 && file.private_info_hash === infoHash
    return isTracked ? { swarm: privateSwarm(infoHash, file.id), isPrivate: true } : undefined
  }

  async function find(infoHash: string, token: string | undefined) {
    const key = token === undefined ? infoHash : `${infoHash} ${token}`
    const known = cache.get(key)
    if (known && clock.now() - known.readAt < cacheTtlMs) return known.torrent
    const readAt = clock.now() // taken before the query, because its result may be outdated when it arrives
    const torrent: TrackedTorrent | undefined = await read(infoHash, token)
    if (torrent) cache.set(key, { torrent, readAt })
    return torrent
  }

  return {
    find,

    async get(infoHash: string, token: string | undefined): Promise<TrackedTorrent> {
      const torrent = await find(infoHash, token)
      if (!torrent) throw notTracked()
      return torrent
    },
  }
}

export const notTracked = () => notFound('this registry does not track this info hash')
