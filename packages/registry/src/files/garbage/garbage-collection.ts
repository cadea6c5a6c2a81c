import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Database, FileBytes } from '../../database/schema.ts'
import type { ObjectStore, StoredEntry } from '../../store/object-store.ts'
import { lockBlob } from '../rows/keep-blob.ts'
import { type Amount, addToTrash, type Trash } from '../rows/trash.ts'
import { type UploadRemoval, uploadRemoval } from './upload-removal.ts'

export type CollectedGarbage = {
  expiredUploads: number
  /** Uploads that were removed because a crash had left them behind. */
  leftUploads: Amount
  /** Objects that were moved to the trash. */
  trashed: Amount
  /** Objects that were removed from the trash, after the retention period or to restore the disk reserve. */
  removed: Amount
  /** Unknown objects that were not collected because they make up a suspiciously large share of all stored bytes. */
  heldBack: Amount
}

export interface GarbageCollection extends UploadRemoval {
  /**
   * Removes the upload of a file whose row was deleted, and moves the file's blob to the trash unless another file
   * shares it.
   */
  removeFileBytes(file: FileBytes): Promise<void>
  /**
   * Removes expired uploads, moves unreferenced objects to the trash, and removes objects from the trash after the
   * retention period. If objects that are unknown to the database amount to more than 1 GB and more than a tenth of all
   * stored bytes, the database is probably the wrong one: unknown objects and uploads are then left in place, and
   * nothing is removed from the trash. With `takesUnknown`, the unknown objects and uploads are collected anyway. With
   * `keepsTrash`, nothing is removed from the trash.
   */
  collect(options?: { takesUnknown?: boolean; keepsTrash?: boolean }): Promise<CollectedGarbage>
}

const maxUnknownBytes = 1_000_000_000
const maxUnknownShare = 0.1
const dayMs = 86_400_000
/** Maximum number of objects whose references are looked up in one query. */
const batchSize = 500

/**
 * Collects unreferenced bytes. A row that refers to an object is committed before the object is created, and a
 * reference moves from an upload to a blob, or from a blob to the trash, in one transaction. Therefore, nothing will
 * ever refer to an object that is unreferenced now, and no grace period is needed in a store to which only one node can
 * write. In other stores, entries without a reference are collected only if they are older than `minAgeMs`.
 */
export function garbageCollection(
  db: Kysely<Database>,
  store: ObjectStore,
  trash: Trash,
  { minAgeMs = dayMs } = {},
): GarbageCollection {
  const removal = uploadRemoval(db, store)

  /**
   * Whether the entry is so old that no node can still be about to record it, even if the clocks of the nodes and the
   * store differ.
   */
  const isOldEnough = ({ createdAt }: StoredEntry) =>
    createdAt === undefined || createdAt.getTime() < Date.now() - minAgeMs

  /**
   * Moves a blob's bytes to the trash unless a file refers to the blob. Returns the number of bytes that were moved.
   */
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

  /**
   * Returns those of `keys` to which a file, a blob or the trash refers, each with the ID of its upload, or with null
   * if it has none.
   */
  async function findKnown(keys: string[]) {
    const asked = sql.join(keys)
    const { rows } = await sql<{ object_key: string; upload_id: string | null }>`
      select object_key, upload_id from file where object_key in (${asked})
      union all select object_key, null from blob where object_key in (${asked})
      union all select object_key, null from trash where object_key in (${asked})`.execute(db)
    return new Map(rows.map((row) => [row.object_key, row.upload_id]))
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

  /** Reads the blobs in pages, because nothing else can run during an SQLite query. */
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

  /** Returns the store's entries to which nothing refers, not even the trash, and the total size of all objects. */
  async function findUnknown() {
    const unknown: StoredEntry[] = []
    let storedBytes = 0
    for await (const batch of inBatches(store.list(), batchSize)) {
      const known = await findKnown(batch.map(({ key }) => key))
      const isKnown = ({ key, uploadId }: StoredEntry) =>
        known.has(key) && (uploadId === undefined || known.get(key) === uploadId)
      unknown.push(...batch.filter((entry) => isOldEnough(entry) && !isKnown(entry)))
      storedBytes += sumEntries(batch.filter(({ isUpload }) => !isUpload)).bytes
    }
    return {
      uploads: unknown.filter(({ isUpload }) => isUpload),
      objects: unknown.filter(({ isUpload }) => !isUpload),
      storedBytes,
    }
  }

  /** Removes bytes from the trash if other data has used part of the disk reserve. */
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

      for (const { key, uploadId } of uploads) {
        await (uploadId === undefined ? store.remove(key) : store.abortUpload({ key, uploadId }))
      }
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
