import { chunkCount } from '@shoal/model-file'
import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database } from '../../database/schema.ts'
import { conflict } from '../../errors.ts'
import { type FileRow, fileColumns } from './file-row.ts'
import { uploadLifetimeSeconds } from './file-states.ts'
import { lockBlob } from './keep-blob.ts'

/** The hashes of an upload, some of which may not be declared yet. */
export type PartialManifest = {
  /** The SHA-256 of the whole file in hexadecimal; empty until it is declared. */
  sha256_hash: string
  /** The SHA-256 hashes of the chunks, concatenated. A hash that has not been declared yet is all zeros. */
  chunkHashes: Uint8Array
}

const hashBytes = 32
const undeclared = '0'.repeat(2 * hashBytes)

/** The manifest of an upload for which only the file size is known. */
export const emptyManifest = (sizeBytes: number): PartialManifest => ({
  sha256_hash: '',
  chunkHashes: new Uint8Array(chunkCount(sizeBytes) * hashBytes),
})

/** Whether the hash of the whole file has been declared, and with it the hashes of all chunks. */
export const isDeclared = ({ sha256_hash }: Pick<FileRow, 'sha256_hash'>) => sha256_hash !== ''

/** Whether a chunk's hash (hexadecimal) has been declared. */
export const isDeclaredChunk = ({ hash }: { hash: string }) => hash !== undeclared

/**
 * Adds `more` hashes to the declared ones, and returns all chunk hashes. Returns undefined if a different hash has
 * already been declared for one of the chunks. Neither argument is changed.
 */
export function mergeHashes(declared: Uint8Array, more: Uint8Array): Uint8Array | undefined {
  const merged = Buffer.from(declared)
  for (let at = 0; at < more.length; at += hashBytes) {
    const added = Buffer.from(more.subarray(at, at + hashBytes))
    if (added.every((byte) => byte === 0)) continue
    const place = merged.subarray(at, at + hashBytes)
    if (place.every((byte) => byte === 0)) place.set(added)
    else if (!place.equals(added)) return undefined
  }
  return merged
}

/**
 * Declares hashes of an open upload and postpones the upload's expiry, in one transaction. If an object with these
 * bytes is already stored, pass its key as `storedKey`. The upload's own bytes are then not needed, and the row no
 * longer refers to them. Returns the file's row.
 * @throws conflict if the upload is no longer open, or if a different hash has already been declared for the same part;
 * in either case, nothing is changed
 */
export function declareHashes(
  db: Kysely<Database>,
  { id }: FileRow,
  { sha256_hash, chunkHashes }: PartialManifest,
  storedKey?: string,
): Promise<FileRow> {
  return db.transaction().execute(async (trx) => {
    const isStored = storedKey !== undefined && (await lockBlob(trx, sha256_hash)) === storedKey
    const row = await trx
      .updateTable('file')
      .set({
        upload_expires_at: databaseTime(trx, uploadLifetimeSeconds),
        ...(isStored && { blob_hash: sha256_hash, object_key: null, upload_id: null }),
      })
      .where('id', '=', id)
      .where('status', '=', 'uploading')
      .returning(fileColumns)
      .executeTakeFirst()
    if (!row) throw conflict('this upload is no longer open')
    const { chunk_hashes } = await trx
      .updateTable('upload_manifest')
      .set({ chunk_hashes: sql`chunk_hashes` }) // locks the row on PostgreSQL
      .where('file_id', '=', id)
      .returning('chunk_hashes')
      .executeTakeFirstOrThrow()
    const merged = mergeHashes(chunk_hashes, chunkHashes)
    const isOther = sha256_hash !== '' && isDeclared(row) && row.sha256_hash !== sha256_hash
    if (!merged || isOther) throw hashConflict()
    await trx
      .updateTable('upload_manifest')
      .set({ chunk_hashes: merged })
      .where('file_id', '=', id)
      .execute()
    if (sha256_hash === '' || isDeclared(row)) return row
    return trx
      .updateTable('file')
      .set({ sha256_hash })
      .where('id', '=', id)
      .returning(fileColumns)
      .executeTakeFirstOrThrow()
  })
}

const hashConflict = () =>
  conflict('a different hash was declared earlier for the same part of this upload', {
    code: 'hash_conflict',
  })
