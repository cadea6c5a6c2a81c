import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database, FileTable } from '../../database/schema.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { isUnfinished } from '../rows/file-row.ts'
import { endedBadly, moveFiles } from '../rows/file-states.ts'

export interface UploadRemoval {
  /** Whether a file that is uploaded, processed or ready refers to this object, or the trash. One that is not needed never will be again. */
  isNeeded(objectKey: string): Promise<boolean>
  /** Removes what was uploaded for a file that is gone or ended badly, or whose bytes were stored before. */
  removeUpload(file: Pick<FileTable, 'object_key'>): Promise<void>
  /** Ends an upload, unless the event is not for the state that it is in by now, and removes its bytes. */
  giveUp(fileId: string, event: 'supersede' | 'cancel'): Promise<void>
  /** Gives up whatever of a model is not ready. */
  giveUpAll(modelId: string): Promise<void>
  /** Removes the bytes of files that ended badly, if a crash came before that was done. */
  removeEndedUploads(): Promise<void>
  /** Ends the uploads that were not touched for seven days, and returns how many those were. */
  expireUploads(): Promise<number>
}

/** Unfinished uploads are removed at once, without a stay in the trash. Their bytes count against the quota until they are gone. */
export function uploadRemoval(db: Kysely<Database>, store: ObjectStore): UploadRemoval {
  /** The row of a file that ended badly keeps the key until the bytes are gone, so that they count until then. */
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
      // Stored bytes that a file was to share, and which 0.1 left it with.
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
