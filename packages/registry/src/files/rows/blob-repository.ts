import type { FileHashes } from '@shoal/model-file'
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../../accounts/caller.ts'
import type { BlobTable, Database } from '../../database/schema.ts'
import { notFound } from '../../errors.ts'
import { visibleTo } from '../../models/visibility.ts'

/** The stored bytes of ready files, by SHA-256 (hexadecimal). */
export interface BlobRepository {
  /** @throws not-found if these bytes are no longer stored */
  get(sha256Hash: string): Promise<StoredBlob>
  /** The object with these bytes, if they are stored. */
  find(sha256Hash: string): Promise<BlobPlace | undefined>
  /** The bytes, if they belong to a ready file that the viewer may see. */
  findVisible(sha256Hash: string, viewer: Viewer): Promise<BlobChunks | undefined>
  /**
   * The object with a file's bytes and the hashes of its chunks, but not of its pieces.
   * @throws not-found if these bytes are no longer stored
   */
  getChunks(sha256Hash: string): Promise<BlobChunks>
  /** A ready file with these bytes that the viewer may see. */
  findFileByHash(sha256Hash: string, viewer: Viewer): Promise<NamedFile | undefined>
  /** A chunk with this hash from a ready file that the viewer may see. */
  findChunk(hash: string, viewer: Viewer): Promise<StoredChunk | undefined>
  /** A chunk with this hash from this file. */
  findFileChunk(sha256Hash: string, hash: string): Promise<StoredChunk | undefined>
}

export type BlobPlace = Pick<BlobTable, 'object_key' | 'size_bytes'>
/** Includes the SHA-256 of each chunk, concatenated. */
export type BlobChunks = BlobPlace & Pick<BlobTable, 'chunk_hashes'>

export type StoredBlob = { objectKey: string; hashes: FileHashes }

/** One chunk of a stored file. */
export type StoredChunk = { objectKey: string; index: number; start: number; size: number }

export function blobRepository(db: Kysely<Database>): BlobRepository {
  return {
    async get(sha256Hash: string): Promise<StoredBlob> {
      const row = await db
        .selectFrom('blob')
        .selectAll()
        .where('sha256_hash', '=', sha256Hash)
        .executeTakeFirstOrThrow(bytesGone)
      return {
        objectKey: row.object_key,
        hashes: {
          fileSizeBytes: row.size_bytes,
          sha256_hash: row.sha256_hash,
          chunkSize: row.chunk_size,
          chunkHashes: row.chunk_hashes,
          pieceLength: row.piece_length,
          pieceHashes: row.piece_hashes,
        },
      }
    },

    find: (sha256Hash: string) =>
      db
        .selectFrom('blob')
        .select(['object_key', 'size_bytes'])
        .where('sha256_hash', '=', sha256Hash)
        .executeTakeFirst(),

    findVisible: (sha256Hash: string, viewer: Viewer) =>
      db
        .selectFrom('file')
        .innerJoin('model', 'model.id', 'file.model_id')
        .innerJoin('blob', 'blob.sha256_hash', 'file.blob_hash')
        .select(['blob.object_key', 'blob.size_bytes', 'blob.chunk_hashes'])
        .where('file.blob_hash', '=', sha256Hash)
        .where('file.status', '=', 'ready')
        .where(visibleTo(viewer))
        .limit(1)
        .executeTakeFirst(),

    getChunks: (sha256Hash: string) =>
      db
        .selectFrom('blob')
        .select(['object_key', 'size_bytes', 'chunk_hashes'])
        .where('sha256_hash', '=', sha256Hash)
        .executeTakeFirstOrThrow(bytesGone),

    async findFileByHash(sha256Hash: string, viewer: Viewer): Promise<NamedFile | undefined> {
      const { rows } = await sql<NamedFile>`
        select file.id, file.filename, model.visibility_version
        from file join model on model.id = file.model_id
        where file.blob_hash = ${sha256Hash} and file.status = 'ready' and ${visibleTo(viewer)}
        limit 1`.execute(db)
      return rows[0]
    },

    findChunk: (hash: string, viewer: Viewer): Promise<StoredChunk | undefined> =>
      findChunkWhere(
        hash,
        sql`exists (
          select 1 from file join model on model.id = file.model_id
          where file.blob_hash = blob.sha256_hash and file.status = 'ready' and ${visibleTo(viewer)})`,
      ),

    findFileChunk: (sha256Hash: string, hash: string): Promise<StoredChunk | undefined> =>
      findChunkWhere(hash, sql`blob.sha256_hash = ${sha256Hash}`),
  }

  /** Raw SQL: a pull runs this for each chunk, and building the query would take longer than running it. */
  async function findChunkWhere(
    hash: string,
    condition: RawBuilder<SqlBool>,
  ): Promise<StoredChunk | undefined> {
    const { rows } = await sql<ChunkRow>`
      select object_key, size_bytes, chunk_size, chunk_index
      from blob_chunk join blob on blob.sha256_hash = blob_chunk.sha256_hash
      where blob_chunk.hash = ${Buffer.from(hash, 'hex')} and ${condition}
      limit 1`.execute(db)
    return rows[0] && toStoredChunk(rows[0])
  }
}

export type NamedFile = { id: string; filename: string; visibility_version: number }
type ChunkRow = { object_key: string; size_bytes: number; chunk_size: number; chunk_index: number }

function bytesGone() {
  return notFound('these bytes are no longer stored')
}

function toStoredChunk({ object_key, size_bytes, chunk_size, chunk_index }: ChunkRow): StoredChunk {
  const start = chunk_index * chunk_size
  const size = Math.min(chunk_size, size_bytes - start)
  return { objectKey: object_key, index: chunk_index, start, size }
}
