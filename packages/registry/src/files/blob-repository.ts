import type { FileHashes } from '@shoal/model-file'
import type { Kysely } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'
import { notFound } from '../errors.ts'
import { visibleTo } from '../models/visibility.ts'

export type BlobRepository = ReturnType<typeof blobRepository>
export type StoredBlob = { objectKey: string; hashes: FileHashes }

/** One chunk of a stored file. */
export type StoredChunk = { objectKey: string; index: number; start: number; size: number }

export function blobRepository(db: Kysely<Database>) {
  return {
    async get(sha256Hash: string): Promise<StoredBlob> {
      const row = await db
        .selectFrom('blob')
        .selectAll()
        .where('sha256_hash', '=', sha256Hash)
        .executeTakeFirstOrThrow(() => notFound('these bytes are no longer here'))
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

    /** A ready file with these bytes that the viewer may see. */
    findFileByHash: (sha256Hash: string, viewer: Viewer) =>
      db
        .selectFrom('file')
        .innerJoin('model', 'model.id', 'file.model_id')
        .select(['file.id', 'file.filename', 'model.visibility_version'])
        .where('file.blob_hash', '=', sha256Hash)
        .where('file.status', '=', 'ready')
        .where(visibleTo(viewer))
        .limit(1)
        .executeTakeFirst(),

    /** A chunk with this hash, of a ready file that the viewer may see. */
    async findChunk(hash: string, viewer: Viewer): Promise<StoredChunk | undefined> {
      const row = await chunks(db, hash)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('file')
              .innerJoin('model', 'model.id', 'file.model_id')
              .select('file.id')
              .whereRef('file.blob_hash', '=', 'blob.sha256_hash')
              .where('file.status', '=', 'ready')
              .where(visibleTo(viewer)),
          ),
        )
        .executeTakeFirst()
      return row && toStoredChunk(row)
    },

    /** A chunk with this hash, of this file's bytes. */
    async findChunkOf(sha256Hash: string, hash: string): Promise<StoredChunk | undefined> {
      const row = await chunks(db, hash)
        .where('blob.sha256_hash', '=', sha256Hash)
        .executeTakeFirst()
      return row && toStoredChunk(row)
    },
  }
}

function chunks(db: Kysely<Database>, hash: string) {
  return db
    .selectFrom('blob_chunk')
    .innerJoin('blob', 'blob.sha256_hash', 'blob_chunk.sha256_hash')
    .select(['object_key', 'size_bytes', 'chunk_size', 'chunk_index'])
    .where('blob_chunk.hash', '=', Buffer.from(hash, 'hex'))
    .limit(1)
}

type ChunkRow = { object_key: string; size_bytes: number; chunk_size: number; chunk_index: number }

function toStoredChunk({ object_key, size_bytes, chunk_size, chunk_index }: ChunkRow): StoredChunk {
  const start = chunk_index * chunk_size
  const size = Math.min(chunk_size, size_bytes - start)
  return { objectKey: object_key, index: chunk_index, start, size }
}
