import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database, FileTable } from '../../database/schema.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { isUnfinished } from '../rows/file-row.ts'
import { endedBadly, moveFiles } from '../rows/file-states.ts'

export interface UploadRemoval {
  /**
   * Whether the trash or a file in state uploading, processing or ready refers to this object. If not, nothing ever
   * will again.
   */
  isNeeded(objectKey: string): Promise<boolean>
  /** Removes the uploaded bytes of a file that was deleted, failed or expired, or whose bytes were already stored. */
  removeUpload(file: Pick<FileTable, 'object_key'>): Promise<void>
  /** Cancels an upload and removes its bytes. Does nothing if the event does not apply to its current state. */
  giveUp(fileId: string, event: 'supersede' | 'cancel'): Promise<void>
  /** Cancels all files of a model that are not ready. */
  giveUpAll(modelId: string): Promise<void>
  /** Removes bytes of failed and expired files that a crash left behind. */
  removeEndedUploads(): Promise<void>
  /** Expires uploads with no activity for seven days, and returns their number. */
  expireUploads(): Promise<number>
}

/**
 * Unfinished uploads are removed at once, not moved to the trash. Their bytes count against the quota until they are
 * removed.
 */
export function uploadRemoval(db: Kysely<Database>, store: ObjectStore): UploadRemoval {
  /**
   * The row of a failed or expired file keeps its object key until the bytes are removed, so that they count until
   * then.
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
      .set({ object_key: null })
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
      // Version 0.1 left references to shared blobs on failed and expired files.
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
      for (const { id, object_key } of expiring) {
        const { numUpdatedRows } = await moveFiles(db, 'expire')
          .where('id', '=', id)
          .where('upload_expires_at', '<', databaseTime(db))
          .executeTakeFirst()
        if (numUpdatedRows > 0n) await removeUpload({ object_key })
      }
      return expiring.length
    },
  }
}
