import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database, FileTable } from '../../database/schema.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { isUnfinished } from '../rows/file-row.ts'
import { endedBadly, moveFiles } from '../rows/file-states.ts'

export interface UploadRemoval {
  /**
   * Whether the trash, a blob, or a file that has neither failed nor expired refers to this object. If not, nothing
   * will ever refer to the object again.
   */
  isNeeded(objectKey: string): Promise<boolean>
  /** Removes the uploaded bytes of a file that was deleted, failed or expired, or whose bytes were already stored. */
  removeUpload(file: Pick<FileTable, 'object_key'>): Promise<void>
  /**
   * Ends an upload with this event and removes its bytes. Does nothing if the event does not apply to the file's
   * current state.
   */
  giveUp(fileId: string, event: 'supersede' | 'cancel'): Promise<void>
  /** For each of the model's files that is not ready, cancels the upload and removes the uploaded bytes. */
  giveUpAll(modelId: string): Promise<void>
  /** Removes the bytes of failed and expired files if a crash has left the bytes behind. */
  removeEndedUploads(): Promise<void>
  /**
   * Marks uploads as expired after seven days without activity, and removes their bytes. Returns the number of these
   * uploads.
   */
  expireUploads(): Promise<number>
}

/**
 * Removes the bytes of unfinished uploads from the store instead of moving them to the trash. The bytes count against
 * the quota until they are removed.
 */
export function uploadRemoval(db: Kysely<Database>, store: ObjectStore): UploadRemoval {
  /**
   * Ignores the rows of failed and expired files. These rows keep the object key until the bytes are removed, so that
   * the bytes count against the quota until then.
   */
  async function isNeeded(key: string): Promise<boolean> {
    const { rows } = await sql`
      select 1 from file where object_key = ${key} and status not in ('failed', 'expired')
      union all select 1 from blob where object_key = ${key}
      union all select 1 from trash where object_key = ${key}`.execute(db)
    return rows.length > 0
  }

  async function removeUpload({ object_key }: Pick<FileTable, 'object_key'>) {
    if (object_key === null || (await isNeeded(object_key))) return
    await store.remove(object_key)
    await db
      .updateTable('file')
      .set({ object_key: null, upload_id: null })
      .where('object_key', '=', object_key)
      .where('status', 'in', endedBadly)
      .execute()
  }

  async function giveUp(fileId: string, event: 'supersede' | 'cancel') {
    const ended = await moveFiles(db, event)
      .where('id', '=', fileId)
      .returning('object_key')
      .executeTakeFirst()
    if (ended) await removeUpload(ended)
  }

  return {
    isNeeded,
    removeUpload,
    giveUp,

    async giveUpAll(modelId) {
      const unfinished = await db
        .selectFrom('file')
        .select('id')
        .where('model_id', '=', modelId)
        .where('status', '<>', 'ready')
        .execute()
      for (const { id } of unfinished) await giveUp(id, 'cancel')
    },

    async removeEndedUploads() {
      const ended = await db
        .selectFrom('file')
        .select('object_key')
        .where(isUnfinished)
        .where('status', 'in', endedBadly)
        .where('object_key', 'is not', null)
        .execute()
      for (const file of ended) await removeUpload(file)
      // Version 0.1 left references to shared blobs in the rows of failed and expired files.
      await db
        .updateTable('file')
        .set({ blob_hash: null })
        .where(isUnfinished)
        .where('status', 'in', endedBadly)
        .where('blob_hash', 'is not', null)
        .execute()
    },

    async expireUploads() {
      const expiring = await db
        .selectFrom('file')
        .select(['id', 'object_key'])
        .where(isUnfinished)
        .where('status', '=', 'uploading')
        .where('upload_expires_at', '<', databaseTime(db))
        .execute()
      let expired = 0
      for (const { id, object_key } of expiring) {
        const { numUpdatedRows } = await moveFiles(db, 'expire')
          .where('id', '=', id)
          .where('upload_expires_at', '<', databaseTime(db))
          .executeTakeFirst()
        if (numUpdatedRows === 0n) continue // the upload has been extended in the meantime
        await removeUpload({ object_key })
        expired += 1
      }
      return expired
    },
  }
}
