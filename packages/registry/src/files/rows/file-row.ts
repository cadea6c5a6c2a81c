import { type Selectable, type SqlBool, sql } from 'kysely'
import type { FileTable } from '../../database/schema.ts'
import type { ChunkLayout } from '../../store/object-store.ts'

/** A file's row without what its header says, which may be megabytes, and what only the metadata peer looks for. */
export type FileRow = Omit<Selectable<FileTable>, 'metadata' | 'tensors' | 'public_req2_hash'>

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
  'upload_expires_at',
  'lease_holder',
  'lease_until',
  'attempts',
  'ready_at',
  'created_at',
] as const satisfies (keyof FileRow)[]

/** Lets SQLite use the index of what is not ready; it does not conclude that from the status itself. */
export const isUnfinished = sql<SqlBool>`status <> 'ready'`

/** How an upload's bytes are cut. */
export function toChunkLayout(file: FileRow): ChunkLayout {
  return { sizeBytes: file.file_size_bytes, chunkSize: file.chunk_size }
}
