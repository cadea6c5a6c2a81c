import { isReservedName } from '@shoal/core/references'
import { formatBytes } from '@shoal/core/units'
import { type Kysely, sql } from 'kysely'
import { v7 as newId } from 'uuid'
import { databaseTime } from '../../database/clock.ts'
import type { Database } from '../../database/schema.ts'
import { conflict, tooLarge, unknownUser, unprocessable } from '../../errors.ts'
import { lockModel } from '../../models/lock-model.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import type { PartialManifest } from '../rows/declare-hashes.ts'
import { type FileRow, fileColumns } from '../rows/file-row.ts'
import { dropFiles, fileTransitions, uploadLifetimeSeconds } from '../rows/file-states.ts'
import { lockBlob } from '../rows/keep-blob.ts'
import { storedBytes } from '../rows/stored-bytes.ts'

export type CreateDependencies = {
  db: Kysely<Database>
  /** Quota in bytes for accounts that have no individual quota. */
  quotaBytes: number | undefined
}

/** The name, the size and the hashes of a file to be uploaded. */
export type UploadManifest = PartialManifest &
  Pick<FileRow, 'filename' | 'file_size_bytes' | 'chunk_size'>

/**
 * Inserts the row of a new upload, and returns it. `before` is the row of an earlier upload with the same filename that
 * failed, expired or was canceled. The new row replaces it if the bytes of the earlier upload have been removed.
 * Returns undefined if another row has this filename: one that another call has just inserted, or `before`, if its bytes
 * have not been removed.
 */
export function createFile(
  { db, quotaBytes }: CreateDependencies,
  model: ModelRow,
  manifest: UploadManifest,
  { storedKey, before }: { storedKey: string | undefined; before: FileRow | undefined },
): Promise<FileRow | undefined> {
  return db.transaction().execute(async (trx) => {
    await lockOwner(trx, model.owner)
    const { owner } = await lockModel(trx, model.id)
    if (owner !== model.owner) throw conflict('the owner of the model has just changed: try again')
    await checkFilename(trx, model.id, manifest.filename)
    if (before) {
      await dropFiles(trx, 'replace')
        .where('id', '=', before.id)
        .where('object_key', 'is', null)
        .execute()
    }
    await checkQuota({ db: trx, quotaBytes }, owner, manifest.file_size_bytes)
    // If the stored bytes were deleted in the meantime, the client must send them.
    const isStored =
      storedKey !== undefined && (await lockBlob(trx, manifest.sha256_hash)) === storedKey
    const row = await trx
      .insertInto('file')
      .values({
        id: newId(),
        model_id: model.id,
        filename: manifest.filename,
        file_size_bytes: manifest.file_size_bytes,
        sha256_hash: manifest.sha256_hash,
        chunk_size: manifest.chunk_size,
        status: fileTransitions.begin.to,
        blob_hash: isStored ? manifest.sha256_hash : null,
        object_key: isStored ? null : newId(),
        upload_expires_at: databaseTime(trx, uploadLifetimeSeconds),
        attempts: 0,
        created_at: databaseTime(trx),
      })
      .onConflict((taken) => taken.columns(['model_id', 'filename']).doNothing())
      .returning(fileColumns)
      .executeTakeFirst()
    if (!row) return undefined
    await trx
      .insertInto('upload_manifest')
      .values({ file_id: row.id, chunk_hashes: manifest.chunkHashes })
      .execute()
    return row
  })
}

/**
 * Throws if Windows reserves the name, or if the model has a file whose name differs only in case, because Windows and
 * macOS could store only one of the two files.
 */
async function checkFilename(trx: Kysely<Database>, modelId: string, filename: string) {
  if (isReservedName(filename)) {
    const message = 'is reserved on Windows'
    throw unprocessable(`the filename ${filename} ${message}`, {
      errors: [{ path: '/filename', message }],
    })
  }
  const similar = await trx
    .selectFrom('file')
    .select('filename')
    .where('model_id', '=', modelId)
    .where(sql`lower(filename)`, '=', filename.toLowerCase())
    .where('filename', '<>', filename)
    .where('status', 'in', ['uploading', 'processing', 'ready'])
    .executeTakeFirst()
  if (similar) {
    throw conflict(
      `the model has a file named ${similar.filename}, and Windows and macOS do not distinguish it from ${filename}: choose another name`,
    )
  }
}

/**
 * Locks the row of the account whose quota is about to be checked, so that concurrent uploads are checked one after
 * another. Accounts are locked before models.
 */
async function lockOwner(trx: Kysely<Database>, username: string) {
  await trx
    .updateTable('account')
    .set({ quota_bytes: sql`quota_bytes` })
    .where('username', '=', username)
    .execute()
}

/**
 * Throws if a file of this size would exceed the account's quota. `replacedId` is the ID of a file that is not counted,
 * because the new file replaces it.
 */
export async function checkQuota(
  { db, quotaBytes }: CreateDependencies,
  username: string,
  sizeBytes: number,
  replacedId?: string,
) {
  const account = await db
    .selectFrom('account')
    .select('quota_bytes')
    .where('username', '=', username)
    .executeTakeFirstOrThrow(() => unknownUser(username))
  const quota = account.quota_bytes ?? quotaBytes
  if (quota === undefined) return
  const used = await storedBytes(db, username, replacedId)
  if (used + sizeBytes > quota) {
    throw tooLarge(
      `quota exceeded: ${formatBytes(used)} of ${formatBytes(quota)} used; this file needs ${formatBytes(sizeBytes)}`,
      { code: 'quota_exceeded' },
    )
  }
}
