/**
 * Each row of the table `trash` identifies an object to which no file or blob refers. The object's bytes stay in place,
 * on disk or in S3, so that a deletion can be undone. The bytes are removed after `SHOAL_TRASH_DAYS` days, or earlier
 * if their space is needed.
 */
import type { Log } from '@shoal/log'
import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../../database/clock.ts'
import type { Database, TrashTable } from '../../database/schema.ts'
import type { ObjectStore } from '../../store/object-store.ts'

export type TrashedObject = { objectKey: string; sizeBytes: number }
export type Amount = { objects: number; bytes: number }

export interface Trash {
  /** How many days bytes stay in the trash; 0 removes them immediately. */
  retentionDays: number
  /** Everything in the trash, oldest first. */
  list(): Promise<TrashTable[]>
  size(): Promise<Amount>
  has(objectKey: string): Promise<boolean>
  /**
   * Takes objects out of the trash if files or blobs refer to them again. Returns the number and size of these objects.
   */
  restore(): Promise<Amount>
  /** Removes bytes that have been in the trash for the retention period. */
  removeExpired(): Promise<Amount>
  /**
   * Removes bytes before the retention period ends, oldest first, until at least `bytesNeeded` bytes are freed. Removes
   * nothing if the trash contains fewer bytes.
   */
  removeOldest(bytesNeeded: number): Promise<Amount>
  /**
   * Removes everything in the trash. Objects that files or blobs refer to again are taken out of the trash and kept in
   * the store.
   */
  empty(): Promise<Amount>
}

type Dependencies = {
  db: Kysely<Database>
  store: ObjectStore
  retentionDays: number
  log?: Pick<Log, 'warn'>
}

const daySeconds = 86_400

/**
 * Moves an object to the trash. `trx` must be the transaction that removes the last reference to the object, if there
 * was one.
 */
export async function addToTrash(
  trx: Kysely<Database>,
  { objectKey, sizeBytes }: TrashedObject,
  reason: TrashTable['reason'],
): Promise<void> {
  await trx
    .insertInto('trash')
    .values({
      object_key: objectKey,
      size_bytes: sizeBytes,
      reason,
      since: databaseTime(trx),
    })
    .onConflict((exists) => exists.doNothing())
    .execute()
}

export function openTrash({ db, store, retentionDays, log }: Dependencies): Trash {
  const oldestFirst = () =>
    db.selectFrom('trash').selectAll().orderBy('since').orderBy('object_key')

  const size = (): Promise<Amount> =>
    db
      .selectFrom('trash')
      .select(({ fn }) => [
        fn.countAll<number>().as('objects'),
        sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as('bytes'),
      ])
      .executeTakeFirstOrThrow()

  /**
   * Removes an object from the store and the trash. If files or blobs refer to the object again, takes it out of the
   * trash, leaves it in the store and returns false.
   */
  async function remove({ object_key }: TrashTable): Promise<boolean> {
    const { objects } = await takeOutReferred(db, object_key)
    if (objects > 0) return false
    await store.remove(object_key) // before the row, so that a crash in between cannot leave an object without a row
    await db.deleteFrom('trash').where('object_key', '=', object_key).execute()
    return true
  }

  async function removeAll(rows: TrashTable[], bytesNeeded = Number.POSITIVE_INFINITY) {
    const removed: Amount = { objects: 0, bytes: 0 }
    for (const row of rows) {
      if (removed.bytes >= bytesNeeded) break
      if (!(await remove(row))) continue
      removed.objects += 1
      removed.bytes += row.size_bytes
    }
    return removed
  }

  return {
    retentionDays,

    list: () => oldestFirst().execute(),

    size,

    async has(objectKey) {
      const { rows } = await sql`select 1 from trash where object_key = ${objectKey}`.execute(db)
      return rows.length > 0
    },

    restore: () => takeOutReferred(db),

    async removeExpired() {
      const latest = databaseTime(db, -retentionDays * daySeconds)
      return removeAll(await oldestFirst().where('since', '<=', latest).execute())
    },

    async removeOldest(bytesNeeded) {
      const { bytes } = await size()
      if (bytes < bytesNeeded) return { objects: 0, bytes: 0 }
      const removed = await removeAll(await oldestFirst().execute(), bytesNeeded)
      log?.warn(
        removed,
        'low on disk space: removed the oldest bytes from the trash before the end of their retention',
      )
      return removed
    },

    empty: async () => removeAll(await oldestFirst().execute()),
  }
}

/**
 * Deletes the trash rows of objects to which files or blobs refer. If `objectKey` is given, considers only that object.
 * Returns the number and size of the objects.
 */
async function takeOutReferred(db: Kysely<Database>, objectKey?: string): Promise<Amount> {
  const rows = await db
    .deleteFrom('trash')
    .where(
      sql<boolean>`(exists (select 1 from blob where blob.object_key = trash.object_key)
        or exists (select 1 from file where file.object_key = trash.object_key))`,
    )
    .$if(objectKey !== undefined, (some) => some.where('object_key', '=', objectKey ?? ''))
    .returning('size_bytes')
    .execute()
  return { objects: rows.length, bytes: rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0) }
}
