import {
  chunkCount,
  chunkRange,
  manifestProblem,
  packHashes,
  unpackHashes,
} from '@shoal/model-file'
import type { MissingChunk, ModelFile, NewFile, Upload } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { v7 as newId } from 'uuid'
import type { Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'
import { conflict, tooLarge, unprocessable } from '../errors.ts'
import type { ModelRow } from '../models/model-repository.ts'
import { visibleTo } from '../models/visibility.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type FileRepository, type FileRow, fileColumns } from './file-repository.ts'

export type UploadDependencies = {
  db: Kysely<Database>
  files: FileRepository
  store: ObjectStore
  /** Bytes that an account may declare, unless it has a limit of its own. */
  quotaBytes: number | undefined
}

const lifetimeMs = 7 * 86_400_000
const listedAtMost = 100

/** Starts an upload, or finds the one that the same call started before. */
export async function startUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  viewer: Viewer,
  manifest: NewFile,
): Promise<{ isNew: boolean; file: ModelFile; upload: Upload }> {
  const problem = manifestProblem(manifest)
  if (problem) throw unprocessable(`the manifest does not add up: ${problem}`)

  const { files, store } = dependencies
  const before = await files.findByName(model.id, manifest.filename)
  const isSame = before && (await isSameUpload(files, before, manifest))
  if (before?.status === 'ready' && !isSame) {
    throw conflict(`another file named ${manifest.filename} is ready: delete it first`)
  }
  if (before?.status === 'processing' && !isSame) {
    throw conflict(`another file named ${manifest.filename} is being processed`)
  }
  const file = isSame ? before : await createFile(dependencies, model, viewer, manifest, before)
  if (file.status === 'uploading' && file.object_key !== null) {
    await store.startUpload(file.object_key, layoutOf(file))
  }
  return {
    isNew: !isSame,
    file: files.toModelFile(file, model.is_public === 1),
    upload: await listMissingChunks(dependencies, file, { from: 0, limit: listedAtMost }),
  }
}

/** The chunks from index `from` on that are still to be sent, with a presigned URL each, and how many there are in all. */
export async function listMissingChunks(
  { files, store }: UploadDependencies,
  file: FileRow,
  { from, limit }: { from: number; limit: number },
): Promise<Upload> {
  const { object_key } = file
  if (file.status !== 'uploading' || object_key === null) {
    return { expires_at: file.upload_expires_at, missing_chunks: [], missing_count: 0 }
  }
  const expiresAt = new Date(Date.now() + lifetimeMs)
  await files.touch(file.id, expiresAt.toISOString())

  const stored = await store.listStoredChunks(object_key, layoutOf(file))
  const chunks = unpackHashes(await files.getManifest(file.id), file.file_size_bytes)
  const missing_chunks: MissingChunk[] = []
  for (let index = from; index < chunks.length && missing_chunks.length < limit; index += 1) {
    const chunk = chunks[index]
    if (!chunk || stored.has(index)) continue
    const range = chunkRange(index, file.file_size_bytes)
    const request = store.presignChunkUpload(object_key, { ...chunk, ...range }, expiresAt)
    missing_chunks.push({ ...chunk, ...request })
  }
  const missing_count = chunks.length - stored.size
  return { expires_at: expiresAt.toISOString(), missing_chunks, missing_count }
}

export function layoutOf(file: FileRow) {
  return { sizeBytes: file.file_size_bytes, chunkSize: file.chunk_size }
}

/** Whether a row is for the very bytes of this manifest and can go on. */
async function isSameUpload(
  files: FileRepository,
  row: FileRow,
  manifest: NewFile,
): Promise<boolean> {
  if (row.sha256_hash !== manifest.sha256_hash) return false
  if (row.file_size_bytes !== manifest.file_size_bytes) return false
  if (row.status === 'failed' || row.status === 'expired') return false
  if (row.status !== 'uploading') return true
  const declared = await files.getManifest(row.id)
  return Buffer.compare(declared, packHashes(manifest.chunk_hashes)) === 0
}

/** Writes the row of a new upload in place of one that ended badly or was given up. */
function createFile(
  { db, quotaBytes }: UploadDependencies,
  model: ModelRow,
  viewer: Viewer,
  manifest: NewFile,
  before: FileRow | undefined,
): Promise<FileRow> {
  return db.transaction().execute(async (trx) => {
    if (before) {
      await trx
        .deleteFrom('file')
        .where('id', '=', before.id)
        .where('status', 'in', ['uploading', 'failed', 'expired'])
        .execute()
    }
    await claimQuota(trx, model.owner, manifest.file_size_bytes, quotaBytes)
    const chunkHashes = packHashes(manifest.chunk_hashes)
    const isStored = await isReadable(trx, viewer, manifest, chunkHashes)
    const now = new Date()
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
        upload_expires_at: new Date(now.getTime() + lifetimeMs).toISOString(),
        attempts: 0,
        created_at: now.toISOString(),
      })
      .onConflict((taken) => taken.columns(['model_id', 'filename']).doNothing())
      .returning(fileColumns)
      .executeTakeFirst()
    if (!row) throw conflict('somebody else started this upload at the same moment: try again')
    await trx
      .insertInto('upload_manifest')
      .values({ file_id: row.id, chunk_hashes: chunkHashes })
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

/** Whether these bytes are stored already and the caller may read them: then they need not be sent again. */
async function isReadable(
  trx: Kysely<Database>,
  viewer: Viewer,
  manifest: NewFile,
  chunkHashes: Uint8Array,
): Promise<boolean> {
  const found = await trx
    .selectFrom('file')
    .innerJoin('model', 'model.id', 'file.model_id')
    .innerJoin('blob', 'blob.sha256_hash', 'file.blob_hash')
    .select('file.id')
    .where('file.status', '=', 'ready')
    .where('file.blob_hash', '=', manifest.sha256_hash)
    .where('blob.chunk_hashes', '=', chunkHashes)
    .where(visibleTo(viewer))
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** How many chunks of an upload have not come. */
export async function countMissingChunks(store: ObjectStore, file: FileRow): Promise<number> {
  if (file.object_key === null) return 0
  const stored = await store.listStoredChunks(file.object_key, layoutOf(file))
  return chunkCount(file.file_size_bytes) - stored.size
}
