import { type Selectable, type SqlBool, sql } from 'kysely'
import type { FileTable } from '../../database/schema.ts'
import type { ChunkLayout, UploadReference } from '../../store/object-store.ts'

/**
 * A file's row without the metadata, which may be megabytes long, and without the columns that only the metadata peer
 * or the model's row needs.
 */
export type FileRow = Omit<
  Selectable<FileTable>,
  'metadata' | 'tensors' | 'public_req2_hash' | 'cache_bytes_per_token'
>

export const fileColumns = [
  'id',
  'model_id',
  'filename',
  'file_size_bytes',
  'sha256_hash',
  'chunk_size',
  'status',
  'status_detail',
  'quantization',
  'public_info_hash',
  'private_info_hash',
  'role',
  'architecture',
  'parameter_count',
  'context_length',
  'memory_bytes',
  'blob_hash',
  'object_key',
  'upload_id',
  'upload_expires_at',
  'lease_holder',
  'lease_until',
  'attempts',
  'ready_at',
  'created_at',
] as const satisfies (keyof FileRow)[]

/**
 * Lets SQLite use the partial index on files that are not ready. A condition on a single status is not enough for
 * SQLite to infer that it can use the index.
 */
export const isUnfinished = sql<SqlBool>`status <> 'ready'`

/** How an upload is divided into chunks. */
export function toChunkLayout(file: FileRow): ChunkLayout {
  return { sizeBytes: file.file_size_bytes, chunkSize: file.chunk_size }
}

/** The upload that a file refers to; undefined if the file's bytes were already stored, or have been removed. */
export function toUpload({ object_key, upload_id }: FileRow): UploadReference | undefined {
  return object_key === null ? undefined : { key: object_key, uploadId: upload_id }
}
