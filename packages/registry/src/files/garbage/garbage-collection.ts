import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Database, FileBytes } from '../../database/schema.ts'
import type { ObjectStore, StoredEntry } from '../../store/object-store.ts'
import { lockBlob } from '../rows/keep-blob.ts'
import { type Amount, addToTrash, type Trash } from '../rows/trash.ts'
import { type UploadRemoval, uploadRemoval } from './upload-removal.ts'

export type CollectedGarbage = {
  expiredUploads: number
  /** Removed uploads that crashes left behind. */
  leftUploads: Amount
  /** Moved to the trash. */
  trashed: Amount
  /** Removed from the trash after the retention period. */
  removed: Amount
  /** Unreferenced objects that were not collected because there are suspiciously many. */
  heldBack: Amount
}

export interface GarbageCollection extends UploadRemoval {
  /** Removes the upload of a file whose row was deleted, and its bytes unless another file shares them. */
  removeFileBytes(file: FileBytes): Promise<void>
  /**
   * Removes expired uploads, moves unreferenced objects to the trash, and removes from the trash what has been there
   * for the retention period. Objects that are unknown to the database are left in place if they are more than a tenth
   * of all stored bytes and more than 1 GB: then the database is probably the wrong one. `takesUnknown` collects them
   * too; `keepsTrash` removes nothing from the trash.
   */
  collect(options?: { takesUnknown?: boolean; keepsTrash?: boolean }): Promise<CollectedGarbage>
}

const maxUnknownBytes = 1_000_000_000
const maxUnknownShare = 0.1
/** Maximum number of objects whose references are looked up in one query. */
const batchSize = 500

/**
 * Collects unreferenced bytes. No grace period is needed: a row that refers to an object is committed before the object
 * is created, and a reference moves from an upload to a blob, or from a blob to the trash, in one transaction. So an
 * object without a reference never gets one later.
 */
export function garbageCollection(
  db: Kysely<Database>,
  store: ObjectStore,
  trash: Trash,
): GarbageCollection {
  const removal = uploadRemoval(db, store)

  /** Moves a blob's bytes to the trash unless a file refers to them, and returns their number. */
  async function releaseBlob(sha256Hash: string): Promise<number> {
    return db.transaction().execute(async (trx) => {
      await lockBlob(trx, sha256Hash)
      const released = await trx
        .deleteFrom('blob')
        .where('sha256_hash', '=', sha256Hash)
        .where(isUnused)
        .returning(['object_key', 'size_bytes'])
        .executeTakeFirst()
      if (!released) return 0
      const { object_key: objectKey, size_bytes: sizeBytes } = released
      await addToTrash(trx, { objectKey, sizeBytes }, 'deleted')
      return sizeBytes
    })
  }

  /** Returns which of these objects files or blobs refer to, and which are in the trash. */
  async function findKnown(keys: string[]) {
    const asked = sql.join(keys)
    const { rows } = await sql<{ object_key: string; is_trash: number }>`
      select object_key, 0 as is_trash from file where object_key in (${asked})
      union all select object_key, 0 as is_trash from blob where object_key in (${asked})
      union all select object_key, 1 as is_trash from trash where object_key in (${asked})`.execute(
      db,
    )
    const keysWhere = (isTrash: 0 | 1) =>
      new Set(rows.filter((row) => row.is_trash === isTrash).map((row) => row.object_key))
    return { referred: keysWhere(0), trashed: keysWhere(1) }
  }

  async function releaseUnusedBlobs(): Promise<Amount> {
    const trashed: Amount = { objects: 0, bytes: 0 }
    for await (const hash of findUnusedBlobs()) {
      const bytes = await releaseBlob(hash)
      if (bytes > 0) trashed.objects += 1
      trashed.bytes += bytes
    }
    return trashed
  }

  /** Reads a page of blobs at a time, because SQLite lets nothing else run during a query. */
  async function* findUnusedBlobs(): AsyncGenerator<string> {
    for (let last = ''; ; ) {
      const blobs = await db
        .selectFrom('blob')
        .select(['sha256_hash', isUnused.as('is_unused')])
        .where('sha256_hash', '>', last)
        .orderBy('sha256_hash')
        .limit(batchSize)
        .execute()
      for (const { sha256_hash, is_unused } of blobs) if (is_unused) yield sha256_hash
      const end = blobs.at(-1)
      if (!end) return
      last = end.sha256_hash
      await turnOfTheLoop()
    }
  }

  /** The entries of the store that are neither referred to nor in the trash, and the number of all stored bytes. */
  async function findUnknown() {
    const unknown: StoredEntry[] = []
    let storedBytes = 0
    for await (const batch of inBatches(store.list(), batchSize)) {
      const { referred, trashed } = await findKnown(batch.map(({ key }) => key))
      unknown.push(...batch.filter(({ key }) => !referred.has(key) && !trashed.has(key)))
      storedBytes += sumEntries(batch.filter(({ isUpload }) => !isUpload)).bytes
    }
    return {
      uploads: unknown.filter(({ isUpload }) => isUpload),
      objects: unknown.filter(({ isUpload }) => !isUpload),
      storedBytes,
    }
  }

  /** Removes bytes from the trash if other data has grown into the reserve. */
  async function restoreReserve(): Promise<Amount> {
    const space = await store.space()
    if (space === 'unlimited' || space.freeBytes >= space.reserveBytes) return nothing
    return trash.removeOldest(space.reserveBytes - space.freeBytes)
  }

  return {
    ...removal,

    async removeFileBytes(file) {
      await removal.removeUpload(file)
      if (file.blob_hash !== null) await releaseBlob(file.blob_hash)
      if (trash.retentionDays === 0) await trash.removeExpired()
    },

    async collect({ takesUnknown = false, keepsTrash = false } = {}) {
      await removal.removeEndedUploads()
      const expiredUploads = await removal.expireUploads()
      const trashed = await releaseUnusedBlobs()
      const { uploads, objects, storedBytes } = await findUnknown()
      const unknown = sumEntries(objects)
      const isSuspicious =
        unknown.bytes > maxUnknownBytes && unknown.bytes > storedBytes * maxUnknownShare
      const collected = {
        expiredUploads,
        leftUploads: nothing,
        trashed,
        removed: nothing,
        heldBack: isSuspicious && !takesUnknown ? unknown : nothing,
      }
      if (isSuspicious && !takesUnknown) return collected

      for (const { key } of uploads) await store.remove(key)
      for (const { key: objectKey, sizeBytes } of objects) {
        await addToTrash(db, { objectKey, sizeBytes }, 'unknown')
      }
      return {
        ...collected,
        leftUploads: sumEntries(uploads),
        trashed: addUp(trashed, unknown),
        removed: keepsTrash ? nothing : addUp(await trash.removeExpired(), await restoreReserve()),
      }
    },
  }
}

const isUnused = sql<SqlBool>`not exists (select 1 from file where file.blob_hash = blob.sha256_hash)`
const nothing: Amount = { objects: 0, bytes: 0 }

const addUp = (one: Amount, other: Amount): Amount => ({
  objects: one.objects + other.objects,
  bytes: one.bytes + other.bytes,
})

function sumEntries(entries: StoredEntry[]): Amount {
  return {
    objects: entries.length,
    bytes: entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  }
}

async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
