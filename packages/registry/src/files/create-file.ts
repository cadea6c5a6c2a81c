import { packHashes } from '@shoal/model-file'
import type { NewFile } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { v7 as newId } from 'uuid'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import { conflict, tooLarge } from '../errors.ts'
import { lockModel } from '../models/lock-model.ts'
import type { ModelRow } from '../models/model-repository.ts'
import { type FileRow, fileColumns } from './file-repository.ts'
import { lockBlob } from './keep-blob.ts'

export type CreateDependencies = {
  db: Kysely<Database>
  /** Bytes that an account may declare, unless it has a limit of its own. */
  quotaBytes: number | undefined
}

/** An upload that nobody touches for so long expires. */
export const uploadLifetimeSeconds = 7 * 86_400

/** Writes the row of a new upload in place of one that ended badly or was given up. */
export function createFile(
  { db, quotaBytes }: CreateDependencies,
  model: ModelRow,
  manifest: NewFile,
  { storedKey, before }: { storedKey: string | undefined; before: FileRow | undefined },
): Promise<FileRow> {
  return db.transaction().execute(async (trx) => {
    await lockModel(trx, model.id)
    if (before) {
      await trx
        .deleteFrom('file')
        .where('id', '=', before.id)
        .where('status', 'in', ['uploading', 'failed', 'expired'])
        .execute()
    }
    await claimQuota(trx, model.owner, manifest.file_size_bytes, quotaBytes)
    // Unless they were deleted meanwhile: then they have to be sent after all.
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
        status: 'uploading',
        blob_hash: isStored ? manifest.sha256_hash : null,
        object_key: isStored ? null : newId(),
        upload_expires_at: databaseTime(trx, uploadLifetimeSeconds),
        attempts: 0,
        created_at: new Date().toISOString(),
      })
      .onConflict((taken) => taken.columns(['model_id', 'filename']).doNothing())
      .returning(fileColumns)
      .executeTakeFirst()
    if (!row) throw conflict('somebody else started this upload at the same moment: try again')
    await trx
      .insertInto('upload_manifest')
      .values({ file_id: row.id, chunk_hashes: packHashes(manifest.chunk_hashes) })
      .execute()
    return row
  })
}

/** Throws when the account would declare more than it may. Its row is locked, so that racing uploads take turns. */
async function claimQuota(
  trx: Kysely<Database>,
  username: string,
  sizeBytes: number,
  defaultQuota: number | undefined,
) {
  const account = await trx
    .updateTable('account')
    .set({ quota_bytes: sql`quota_bytes` })
    .where('username', '=', username)
    .returning('quota_bytes')
    .executeTakeFirstOrThrow()
  const quota = account.quota_bytes ?? defaultQuota
  if (quota === undefined) return
  const { used } = await trx
    .selectFrom('file')
    .innerJoin('model', 'model.id', 'file.model_id')
    .select(sql<number>`cast(coalesce(sum(file_size_bytes), 0) as bigint)`.as('used'))
    .where('owner', '=', username)
    .where('status', 'not in', ['failed', 'expired'])
    .executeTakeFirstOrThrow()
  if (used + sizeBytes > quota) {
    throw tooLarge(
      `${username} may keep ${quota} bytes here and has ${used}: this file of ${sizeBytes} does not fit`,
      { code: 'quota_exceeded' },
    )
  }
}
