import { infoDictionary } from '@shoal/model-file'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Database } from '../database/schema.ts'

/** The torrents that the metadata peer serves. */
export type MetadataSource = {
  /** Finds the torrent of a ready file in a public model. */
  find(infoHash: string): Promise<PublicTorrent | undefined>
  /**
   * Finds the info hash of such a torrent by SHA-1('req2' + info hash), which is the only information about the torrent
   * at the beginning of an encrypted connection.
   */
  findInfoHash(req2Hash: string): Promise<string | undefined>
}

export type PublicTorrent = {
  /** The bencoded info dictionary; undefined if the file has been deleted in the meantime. */
  readInfo(): Promise<Uint8Array | undefined>
}

/**
 * Maximum size of all cached info dictionaries. An info dictionary takes 40 KiB for a file of a few GB, and 1.2 MB for
 * a file of 1 TB.
 */
const maxCachedBytes = 32 * 1024 * 1024
const maxCachedTorrents = 500

export function metadataSource(db: Kysely<Database>): MetadataSource {
  /**
   * Info dictionaries by info hash. An entry stays valid forever, because an info hash always identifies the same
   * bytes. Whether the file is public is checked for each connection.
   */
  const cache = new LRUCache<string, Uint8Array>({
    max: maxCachedTorrents,
    maxSize: maxCachedBytes,
    sizeCalculation: ({ byteLength }) => byteLength + 500, // for the key and the objects
  })

  const publicFiles = db
    .selectFrom('file')
    .innerJoin('model', 'model.id', 'file.model_id')
    .where('file.status', '=', 'ready')
    .where('model.is_public', '=', 1)
    .limit(1)

  async function readInfo(fileId: string): Promise<Uint8Array | undefined> {
    const found = await db
      .selectFrom('file')
      .innerJoin('blob', 'blob.sha256_hash', 'file.blob_hash')
      .select(['file.filename', 'blob.size_bytes', 'blob.piece_length', 'blob.piece_hashes'])
      .where('file.id', '=', fileId)
      .executeTakeFirst()
    return (
      found &&
      infoDictionary({
        filename: found.filename,
        fileSizeBytes: found.size_bytes,
        pieceLength: found.piece_length,
        pieceHashes: found.piece_hashes,
        isPrivate: false,
      })
    )
  }

  return {
    async find(infoHash) {
      const file = await publicFiles
        .select('file.id')
        .where('file.public_info_hash', '=', infoHash)
        .executeTakeFirst()
      if (!file) return undefined
      return {
        async readInfo() {
          const info = cache.get(infoHash) ?? (await readInfo(file.id))
          if (info) cache.set(infoHash, info)
          return info
        },
      }
    },

    async findInfoHash(req2Hash) {
      const file = await publicFiles
        .select('file.public_info_hash')
        .where('file.public_req2_hash', '=', req2Hash)
        .executeTakeFirst()
      return file?.public_info_hash ?? undefined
    },
  }
}
