import { infoDictionary } from '@shoal/model-file'
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'

/** The torrents that the metadata peer answers for. */
export type MetadataSource = {
  /** The torrent of a ready file in a public model. */
  find(infoHash: string): Promise<PublicTorrent | undefined>
  /** The info hash of such a torrent by SHA-1('req2' + info hash), which is all that an encrypted connection says at first. */
  findInfoHash(req2Hash: string): Promise<string | undefined>
}

export type PublicTorrent = {
  /** The bencoded info dictionary. Undefined when the file has gone meanwhile. */
  readInfo(): Promise<Uint8Array | undefined>
}

/** 40 KiB each for a file of a few GB, 1.3 MB for one of a terabyte. */
const keptAtMost = 32

export function metadataSource(db: Kysely<Database>): MetadataSource {
  /** An info hash names the same bytes for ever; whether they are public is asked for each connection. */
  const kept = new Map<string, Uint8Array>()

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

  function keep(infoHash: string, info: Uint8Array) {
    kept.delete(infoHash)
    kept.set(infoHash, info) // at the end: the first is the one that nobody has asked for the longest
    if (kept.size > keptAtMost) kept.delete(kept.keys().next().value ?? '')
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
          const info = kept.get(infoHash) ?? (await readInfo(file.id))
          if (info) keep(infoHash, info)
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
