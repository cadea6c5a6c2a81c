import type { FileHashes } from '@shoal/model-file'
import type { FoundFile } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import type { Viewer } from '../../accounts/caller.ts'
import { compileOnce } from '../../database/compile-once.ts'
import type { BlobTable, Database, ModelTable } from '../../database/schema.ts'
import { notFound } from '../../errors.ts'
import { isUuid } from '../../models/model-repository.ts'
import { toViewerValues, visibleTo, visibleToOne } from '../../models/visibility.ts'
import type { FileRow } from './file-row.ts'

/** The stored bytes of ready files, by SHA-256 (hexadecimal). */
export interface BlobRepository {
  /** @throws not-found if these bytes are no longer stored */
  get(sha256Hash: string): Promise<StoredBlob>
  /** The object with these bytes, if they are stored. */
  find(sha256Hash: string): Promise<BlobPlace | undefined>
  /** The object with these bytes and the chunk hashes, if the bytes belong to a ready file that the viewer may see. */
  findVisible(sha256Hash: string, viewer: Viewer): Promise<BlobChunks | undefined>
  /**
   * The SHA-256 hashes of a file's chunks, concatenated.
   * @throws not-found if these bytes are no longer stored
   */
  getChunkHashes(sha256Hash: string): Promise<Uint8Array>
  /**
   * A ready file of a model that the viewer may see, with the key of the object that contains the file's bytes. The
   * model is given by its ID, its name or a former name.
   */
  findReadyFile(
    modelIdOrName: string,
    fileId: string,
    viewer: Viewer,
  ): Promise<ReadyFile | undefined>
  /**
   * A ready file with this hash that the viewer may see. If there is none, a chunk with this hash in any ready file
   * that the viewer may see.
   */
  findByHash(hash: string, viewer: Viewer): Promise<NamedFile | StoredChunk | undefined>
  /**
   * For each hash, the ready file with that hash in the most downloaded model that the viewer may see. Hashes without
   * such a file are left out.
   */
  lookUp(sha256Hashes: readonly string[], viewer: Viewer): Promise<FoundFile[]>
  /** A chunk that has this hash and belongs to the file with this SHA-256. */
  findFileChunk(sha256Hash: string, hash: string): Promise<StoredChunk | undefined>
}

export type BlobPlace = Pick<BlobTable, 'object_key' | 'size_bytes'>
/** The object and size of a blob, with the concatenated SHA-256 hashes of its chunks. */
export type BlobChunks = BlobPlace & Pick<BlobTable, 'chunk_hashes'>

export type StoredBlob = { objectKey: string; hashes: FileHashes }

/** One chunk of a stored file. */
export type StoredChunk = { objectKey: string; index: number; start: number; size: number }

export function blobRepository(db: Kysely<Database>): BlobRepository {
  const queryReadyFile = compileOnce<ReadyFile, ReadyFileValues>(
    db,
    (values) => sql`
      select file.id, file.filename, file.file_size_bytes, file.sha256_hash, file.blob_hash,
        file.public_info_hash, file.private_info_hash, file.model_id,
        model.is_public, model.visibility_version, blob.object_key
      from file
      join model on model.id = file.model_id
      join blob on blob.sha256_hash = file.blob_hash
      where file.id = ${values.fileId} and file.status = 'ready'
        and (model.id = ${values.modelId} or model.name = ${values.modelName}
          or model.id = (select model_id from former_name where name = ${values.modelName}))
        and ${visibleToOne(values)}`,
  )

  const queryByHash = compileOnce<NamedFile | ChunkRow, HashValues>(
    db,
    (values) => sql`
      select * from (
        select file.id, file.filename, model.visibility_version,
          null as object_key, cast(null as bigint) as size_bytes,
          cast(null as bigint) as chunk_size, cast(null as bigint) as chunk_index
        from file join model on model.id = file.model_id
        where file.blob_hash = ${values.digits} and file.status = 'ready' and ${visibleToOne(values)}
        limit 1
      ) as whole_file
      union all
      select * from (
        select null, null, cast(null as bigint), object_key, size_bytes, chunk_size, chunk_index
        from blob_chunk join blob on blob.sha256_hash = blob_chunk.sha256_hash
        where blob_chunk.hash = ${values.bytes} and exists (
          select 1 from file join model on model.id = file.model_id
          where file.blob_hash = blob.sha256_hash and file.status = 'ready' and ${visibleToOne(values)})
        limit 1
      ) as chunk`,
  )

  const queryFileChunk = compileOnce<ChunkRow, { sha256Hash: string; bytes: Uint8Array }>(
    db,
    ({ sha256Hash, bytes }) => sql`
      select object_key, size_bytes, chunk_size, chunk_index
      from blob_chunk join blob on blob.sha256_hash = blob_chunk.sha256_hash
      where blob_chunk.hash = ${bytes} and blob.sha256_hash = ${sha256Hash}
      limit 1`,
  )
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

    async lookUp(sha256Hashes: readonly string[], viewer: Viewer): Promise<FoundFile[]> {
      const rows = await db
        .selectFrom('file')
        .innerJoin('model', 'model.id', 'file.model_id')
        .select([
          'file.sha256_hash',
          'file.model_id',
          'model.name as model_name',
          'file.id as file_id',
          'file.filename',
          'file.file_size_bytes',
        ])
        .where('file.blob_hash', 'in', [...new Set(sha256Hashes)])
        .where('file.status', '=', 'ready')
        .where(visibleTo(viewer))
        .orderBy('model.downloads') // a later row replaces an earlier one
        .orderBy('model.id', 'desc')
        .execute()
      return [...new Map(rows.map((row) => [row.sha256_hash, row])).values()]
    },

    async getChunkHashes(sha256Hash: string): Promise<Uint8Array> {
      const { chunk_hashes } = await db
        .selectFrom('blob')
        .select('chunk_hashes')
        .where('sha256_hash', '=', sha256Hash)
        .executeTakeFirstOrThrow(bytesGone)
      return chunk_hashes
    },

    async findReadyFile(modelIdOrName, fileId, viewer): Promise<ReadyFile | undefined> {
      const key = modelIdOrName.toLowerCase()
      const [row] = await queryReadyFile({
        modelId: isUuid(key) ? key : null,
        modelName: isUuid(key) ? null : key,
        fileId: fileId.toLowerCase(),
        ...toViewerValues(viewer),
      })
      return row
    },

    async findByHash(hash: string, viewer: Viewer): Promise<NamedFile | StoredChunk | undefined> {
      const bytes = Buffer.from(hash, 'hex')
      const rows = await queryByHash({ digits: hash, bytes, ...toViewerValues(viewer) })
      const [row] = rows
      return rows.find(isFile) ?? (row && !isFile(row) ? toStoredChunk(row) : undefined)
    },

    async findFileChunk(sha256Hash: string, hash: string): Promise<StoredChunk | undefined> {
      const [row] = await queryFileChunk({ sha256Hash, bytes: Buffer.from(hash, 'hex') })
      return row && toStoredChunk(row)
    },
  }
}

export type ReadyFile = Pick<
  FileRow,
  | 'id'
  | 'filename'
  | 'file_size_bytes'
  | 'sha256_hash'
  | 'public_info_hash'
  | 'private_info_hash'
  | 'model_id'
> &
  Pick<ModelTable, 'is_public' | 'visibility_version'> & { blob_hash: string; object_key: string }

type ViewerValues = ReturnType<typeof toViewerValues>
type ReadyFileValues = ViewerValues & {
  modelId: string | null
  modelName: string | null
  fileId: string
}
type HashValues = ViewerValues & { digits: string; bytes: Uint8Array }

export type NamedFile = { id: string; filename: string; visibility_version: number }

export function isFile<Other extends object>(found: NamedFile | Other): found is NamedFile {
  return 'id' in found && found.id !== null
}

type ChunkRow = { object_key: string; size_bytes: number; chunk_size: number; chunk_index: number }

/** The error for a blob whose row is missing. */
export function bytesGone() {
  return notFound('these bytes are no longer stored')
}

function toStoredChunk({ object_key, size_bytes, chunk_size, chunk_index }: ChunkRow): StoredChunk {
  const start = chunk_index * chunk_size
  const size = Math.min(chunk_size, size_bytes - start)
  return { objectKey: object_key, index: chunk_index, start, size }
}
