import { hasCode } from '@shoal/core/errors'
import {
  type FileHashes,
  findFileCacheBytes,
  findFileMemory,
  type GgufFacts,
  infoDictionary,
  infoHash,
} from '@shoal/model-file'
import type { FileRecord, ModelFile } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import type { Note } from '../../audit/audit-log.ts'
import { databaseTime } from '../../database/clock.ts'
import { computeReq2Hash } from '../../database/req2-hash.ts'
import type { Database, FileBytes } from '../../database/schema.ts'
import { conflict, notFound } from '../../errors.ts'
import { lockModel } from '../../models/lock-model.ts'
import { refreshModel } from '../../models/refresh-model.ts'
import { privateSwarm, publicSwarm, type Swarms } from '../../swarm/swarm.ts'
import { type FileRow, fileColumns } from './file-row.ts'
import { dropFiles, moveFiles } from './file-states.ts'
import { keepBlob } from './keep-blob.ts'

export interface FileRepository {
  /** Converts rows to the API's format, with the info hashes and seeder counts for a public or a private model. */
  toModelFiles(rows: FileRow[], isPublic: boolean): Promise<ModelFile[]>
  toModelFile(row: FileRow, isPublic: boolean): Promise<ModelFile>
  /**
   * The file with the metadata from its header.
   * @throws not-found if it no longer exists
   */
  getRecord(row: FileRow, isPublic: boolean): Promise<FileRecord>
  /** The model's files, smallest first. */
  list(modelId: string, status: 'ready' | 'all'): Promise<FileRow[]>
  /**
   * The model's file with this ID. Unless `seesUnready` is true, a file that is not ready is treated as missing.
   * @throws not-found
   */
  get(modelId: string, fileId: string, seesUnready: boolean): Promise<FileRow>
  /** @throws not-found if the file does not exist or is not ready */
  getReady(fileId: string): Promise<FileRow>
  findByName(modelId: string, filename: string): Promise<FileRow | undefined>
  /**
   * The chunk hashes that the client declared for the upload, concatenated.
   * @throws conflict if the upload is no longer open
   */
  getManifest(fileId: string): Promise<Uint8Array>
  /** Postpones an upload's expiry. Returns the new expiry time, or undefined if the upload is not open. */
  touch(fileId: string, lifetimeSeconds: number): Promise<string | undefined>
  /** Submits an upload for processing. Returns false if the upload is not open. */
  submit(fileId: string): Promise<boolean>
  /**
   * In one transaction, turns the bytes of a checked upload into a blob and makes the file ready. If a blob has the
   * same bytes but its object was lost, `lostKey` is the key of that object, and the uploaded object replaces it. If
   * `holder` no longer has the lease on the file, throws a conflict and changes nothing.
   */
  publish(
    file: FileRow,
    holder: string,
    checked: CheckedFile & { lostKey: string | undefined },
  ): Promise<void>
  /** Records an upload's ID. Returns false and changes nothing if another ID was recorded in the meantime. */
  keepUploadId(file: FileRow, uploadId: string | null): Promise<boolean>
  /** Deletes a file's row, and returns the columns that referred to its bytes; undefined if the row did not exist. */
  remove(file: { id: string; model_id: string }, note?: Note): Promise<FileBytes | undefined>
}

/** The result of processing: the hashes of the stored bytes, and the facts from the header. */
export type CheckedFile = { hashes: FileHashes; facts: GgufFacts }

/** The error for a job that another node has taken over, or whose file was deleted. This node's result is discarded. */
export const leaseLost = () =>
  conflict('the file was deleted, or another node is processing it now', {
    code: leaseLostCode,
  })

export const isLeaseLost = (error: unknown) =>
  hasCode(error, 'conflict') && error.details.code === leaseLostCode

const leaseLostCode = 'lease_lost'

export function fileRepository(
  db: Kysely<Database>,
  swarms: Pick<Swarms, 'countSeeders'>,
): FileRepository {
  async function toModelFiles(rows: FileRow[], isPublic: boolean): Promise<ModelFile[]> {
    const names = rows.flatMap((row) => toSwarm(row, isPublic) ?? [])
    const seeders = names.length > 0 ? await swarms.countSeeders(names) : new Map<string, number>()
    return rows.map((row) => ({
      id: row.id,
      model_id: row.model_id,
      filename: row.filename,
      quantization: row.quantization,
      file_size_bytes: row.file_size_bytes,
      memory_bytes: row.memory_bytes,
      sha256_hash: row.sha256_hash,
      format: 'gguf',
      status: row.status,
      status_detail: row.status_detail,
      torrent_info_hash: findInfoHash(row, isPublic),
      chunk_size: row.chunk_size,
      seeders: seeders.get(toSwarm(row, isPublic) ?? '') ?? 0,
      created_at: row.created_at,
    }))
  }

  async function toModelFile(row: FileRow, isPublic: boolean): Promise<ModelFile> {
    const [file] = await toModelFiles([row], isPublic)
    return file as ModelFile
  }

  return {
    toModelFiles,
    toModelFile,

    async getRecord(row: FileRow, isPublic: boolean): Promise<FileRecord> {
      const { metadata, tensors } = await db
        .selectFrom('file')
        .select(['metadata', 'tensors'])
        .where('id', '=', row.id)
        .executeTakeFirstOrThrow(() => notFound(`no file ${row.id}`))
      return {
        ...(await toModelFile(row, isPublic)),
        metadata: metadata && JSON.parse(metadata),
        tensors: tensors && JSON.parse(tensors),
      }
    },

    list: (modelId: string, status: 'ready' | 'all'): Promise<FileRow[]> =>
      db
        .selectFrom('file')
        .select(fileColumns)
        .where('model_id', '=', modelId)
        .$if(status === 'ready', (files) => files.where('status', '=', 'ready'))
        .orderBy('file_size_bytes')
        .orderBy('id')
        .execute(),

    async get(modelId: string, fileId: string, seesUnready: boolean): Promise<FileRow> {
      const row = await db
        .selectFrom('file')
        .select(fileColumns)
        .where('model_id', '=', modelId)
        .where('id', '=', fileId.toLowerCase())
        .executeTakeFirst()
      if (!row || (row.status !== 'ready' && !seesUnready)) throw notFound(`no file ${fileId}`)
      return row
    },

    getReady: (fileId: string): Promise<FileRow> =>
      db
        .selectFrom('file')
        .select(fileColumns)
        .where('id', '=', fileId)
        .where('status', '=', 'ready')
        .executeTakeFirstOrThrow(() => notFound(`no file ${fileId}`)),

    findByName: (modelId: string, filename: string): Promise<FileRow | undefined> =>
      db
        .selectFrom('file')
        .select(fileColumns)
        .where('model_id', '=', modelId)
        .where('filename', '=', filename)
        .executeTakeFirst(),

    async getManifest(fileId: string): Promise<Uint8Array> {
      const { chunk_hashes } = await db
        .selectFrom('upload_manifest')
        .select('chunk_hashes')
        .where('file_id', '=', fileId)
        .executeTakeFirstOrThrow(() => conflict('this upload is no longer open'))
      return chunk_hashes
    },

    async touch(fileId: string, lifetimeSeconds: number): Promise<string | undefined> {
      const touched = await db
        .updateTable('file')
        .set({ upload_expires_at: databaseTime(db, lifetimeSeconds) })
        .where('id', '=', fileId)
        .where('status', '=', 'uploading')
        .returning('upload_expires_at')
        .executeTakeFirst()
      return touched?.upload_expires_at
    },

    async submit(fileId: string): Promise<boolean> {
      const { numUpdatedRows } = await moveFiles(db, 'submit')
        .where('id', '=', fileId)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    publish: (
      file: FileRow,
      holder: string,
      { hashes, facts, lostKey }: CheckedFile & { lostKey: string | undefined },
    ): Promise<void> =>
      db.transaction().execute(async (trx) => {
        await lockModel(trx, file.model_id)
        if (file.object_key !== null) await keepBlob(trx, file.object_key, { hashes, lostKey })
        const torrent = {
          filename: file.filename,
          fileSizeBytes: file.file_size_bytes,
          pieceLength: hashes.pieceLength,
          pieceHashes: hashes.pieceHashes,
        }
        const publicInfoHash = infoHash(infoDictionary({ ...torrent, isPrivate: false }))
        const { numUpdatedRows } = await moveFiles(trx, 'publish', {
          blob_hash: file.sha256_hash,
          quantization: facts.quantization,
          public_info_hash: publicInfoHash,
          public_req2_hash: computeReq2Hash(publicInfoHash),
          private_info_hash: infoHash(infoDictionary({ ...torrent, isPrivate: true })),
          metadata: JSON.stringify(facts.metadata),
          tensors: JSON.stringify(facts.tensor_summary),
          role: facts.role,
          architecture: facts.architecture,
          parameter_count: facts.parameter_count,
          context_length: facts.context_length,
          memory_bytes: findFileMemory(facts, file.file_size_bytes),
          cache_bytes_per_token: findFileCacheBytes(facts),
          ready_at: databaseTime(trx),
        })
          .where('id', '=', file.id)
          .where('lease_holder', '=', holder)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) throw leaseLost()
        await trx.deleteFrom('upload_manifest').where('file_id', '=', file.id).execute()
        await refreshModel(trx, file.model_id)
      }),

    async keepUploadId({ id, object_key, upload_id }: FileRow, uploadId: string | null) {
      const { numUpdatedRows } = await db
        .updateTable('file')
        .set({ upload_id: uploadId })
        .where('id', '=', id)
        .where('object_key', '=', object_key)
        .where('upload_id', upload_id === null ? 'is' : '=', upload_id)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    remove: (file: { id: string; model_id: string }, note?: Note): Promise<FileBytes | undefined> =>
      db.transaction().execute(async (trx) => {
        await lockModel(trx, file.model_id)
        const removed = await dropFiles(trx, 'remove')
          .where('id', '=', file.id)
          .returning(['object_key', 'blob_hash'])
          .executeTakeFirst()
        await refreshModel(trx, file.model_id)
        if (removed) await note?.(trx)
        return removed
      }),
  }
}

const findInfoHash = (row: FileRow, isPublic: boolean) =>
  isPublic ? row.public_info_hash : row.private_info_hash

/** A file's swarm; undefined while the file has no torrent. */
function toSwarm(row: FileRow, isPublic: boolean): string | undefined {
  const infoHash = findInfoHash(row, isPublic)
  if (infoHash === null) return undefined
  return isPublic ? publicSwarm(infoHash) : privateSwarm(infoHash, row.id)
}
