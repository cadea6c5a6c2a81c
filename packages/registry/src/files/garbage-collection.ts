import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Database, FileTable } from '../database/schema.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { lockBlob } from './keep-blob.ts'

export type GarbageCollection = ReturnType<typeof garbageCollection>
/** What a file refers to: its upload's object until it is ready, then the stored bytes. */
export type BytesOfFile = Pick<FileTable, 'object_key' | 'blob_hash'>
export type CollectedGarbage = { expiredUploads: number; objects: number; bytes: number }

/**
 * Deletes bytes that nothing refers to. It needs no grace period: the row that refers to an object is committed before the
 * object is made, and a reference moves from an upload to a blob within one transaction, so that an object without
 * one is never about to get one.
 */
export function garbageCollection(db: Kysely<Database>, store: ObjectStore) {
  /** Deletes the bytes of a blob when no file refers to them (any more). */
  async function releaseBlob(sha256Hash: string) {
    const released = await db.transaction().execute(async (trx) => {
      await lockBlob(trx, sha256Hash)
      return trx
        .deleteFrom('blob')
        .where('sha256_hash', '=', sha256Hash)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('file')
                .select('file.id')
                .whereRef('file.blob_hash', '=', 'blob.sha256_hash'),
            ),
          ),
        )
        .returning('object_key')
        .executeTakeFirst()
    })
    if (released) await store.remove(released.object_key)
  }

  async function isReferred(key: string): Promise<boolean> {
    const { rows } = await sql`
      select 1 from file where object_key = ${key}
      union all select 1 from blob where object_key = ${key}`.execute(db)
    return rows.length > 0
  }

  /** Deletes what was uploaded for a file that is gone or failed, or whose bytes were stored before. */
  async function removeUpload({ object_key }: Pick<BytesOfFile, 'object_key'>) {
    if (object_key !== null && !(await isReferred(object_key))) await store.remove(object_key)
  }

  async function expireUploads(): Promise<number> {
    const now = new Date().toISOString()
    const expiring = await db
      .selectFrom('file')
      .select(['id', 'object_key'])
      .where(sql<SqlBool>`status <> 'ready'`)
      .where('status', '=', 'uploading')
      .where('upload_expires_at', '<', now)
      .execute()
    for (const { id, object_key } of expiring) {
      const { numUpdatedRows } = await db
        .updateTable('file')
        .set({
          status: 'expired',
          status_detail: 'nothing was sent for 7 days',
          object_key: null,
          blob_hash: null,
        })
        .where('id', '=', id)
        .where('status', '=', 'uploading')
        .where('upload_expires_at', '<', now)
        .executeTakeFirst()
      if (numUpdatedRows > 0n && object_key !== null) await store.remove(object_key)
    }
    return expiring.length
  }

  return {
    /** The file's row is gone: so go its upload and, unless another file has them too, its bytes. */
    async removeBytesOf(file: BytesOfFile) {
      await removeUpload(file)
      if (file.blob_hash !== null) await releaseBlob(file.blob_hash)
    },

    removeUpload,

    /** Everything that crashes have left, and uploads that nobody goes on with. */
    async collect(): Promise<CollectedGarbage> {
      const collected = { expiredUploads: await expireUploads(), objects: 0, bytes: 0 }
      const unused = await db
        .selectFrom('blob')
        .select(['sha256_hash', 'size_bytes'])
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('file')
                .select('file.id')
                .whereRef('file.blob_hash', '=', 'blob.sha256_hash'),
            ),
          ),
        )
        .execute()
      for (const { sha256_hash, size_bytes } of unused) {
        await releaseBlob(sha256_hash)
        collected.objects += 1
        collected.bytes += size_bytes
      }
      for await (const { key, sizeBytes } of store.list()) {
        if (await isReferred(key)) continue
        await store.remove(key)
        collected.objects += 1
        collected.bytes += sizeBytes
      }
      return collected
    },
  }
}
