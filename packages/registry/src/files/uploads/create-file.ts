import { formatBytes } from '@shoal/core/units'
import { packHashes } from '@shoal/model-file'
import type { NewFile } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { v7 as newId } from 'uuid'
import { databaseTime } from '../../database/clock.ts'
import type { Database } from '../../database/schema.ts'
import { conflict, tooLarge } from '../../errors.ts'
import { lockModel } from '../../models/lock-model.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import { type FileRow, fileColumns } from '../rows/file-row.ts'
import {
  dropFiles,
  endedBadly,
  fileTransitions,
  uploadLifetimeSeconds,
} from '../rows/file-states.ts'
import { lockBlob } from '../rows/keep-blob.ts'

export type CreateDependencies = {
  db: Kysely<Database>
  /** Bytes that an account may declare, unless it has a limit of its own. */
  quotaBytes: number | undefined
}

/** Writes the row of a new upload in place of one that ended badly or was given up, whose bytes are gone. */
export function createFile(
  { db, quotaBytes }: CreateDependencies,
  model: ModelRow,
  manifest: NewFile,
  { storedKey, before }: { storedKey: string | undefined; before: FileRow | undefined },
): Promise<FileRow> {
  return db.transaction().execute(async (trx) => {
    await lockModel(trx, model.id)
    if (before) {
      await dropFiles(trx, 'replace')
        .where('id', '=', before.id)
        .where('object_key', 'is', null)
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
        status: fileTransitions.begin.to,
        blob_hash: isStored ? manifest.sha256_hash : null,
        object_key: isStored ? null : newId(),
        upload_expires_at: databaseTime(trx, uploadLifetimeSeconds),
        attempts: 0,
        created_at: new Date().toISOString(),
      })
      .onConflict((taken) => taken.columns(['model_id', 'filename']).doNothing())
      .returning(fileColumns)
      .executeTakeFirst()
    if (!row) throw conflict('another upload of this file started at the same time: try again')
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
  await trx
    .updateTable('account')
    .set({ quota_bytes: sql`quota_bytes` })
    .where('username', '=', username)
    .execute()
  await checkQuota({ db: trx, quotaBytes: defaultQuota }, username, sizeBytes)
}

/** Throws when the account would declare more than it may with a file of this size, were `replacedId` not there. */
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
    .executeTakeFirstOrThrow()
  const quota = account.quota_bytes ?? quotaBytes
  if (quota === undefined) return
  const { used } = await db
    .selectFrom('file')
    .innerJoin('model', 'model.id', 'file.model_id')
    .select(sql<number>`cast(coalesce(sum(file_size_bytes), 0) as bigint)`.as('used'))
    .where('owner', '=', username)
    // Of a file that ended badly the bytes count until they are gone.
    .where((is) => is.or([is('status', 'not in', endedBadly), is('object_key', 'is not', null)]))
    .$if(replacedId !== undefined, (files) => files.where('file.id', '<>', replacedId ?? ''))
    .executeTakeFirstOrThrow()
  if (used + sizeBytes > quota) {
    throw tooLarge(
      `quota exceeded: ${formatBytes(used)} of ${formatBytes(quota)} used; this file needs ${formatBytes(sizeBytes)}`,
      { code: 'quota_exceeded' },
    )
  }
}
