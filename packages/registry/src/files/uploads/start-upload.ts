import { hasCode } from '@shoal/core/errors'
import {
  chunkCount,
  chunkRange,
  manifestProblem,
  packHashes,
  unpackHashes,
} from '@shoal/model-file'
import type { ChunkEntry, MissingChunk, ModelFile, NewFile, Upload } from '@shoal/protocol'
import type { Viewer } from '../../accounts/caller.ts'
import { conflict, unprocessable } from '../../errors.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { isStorageFull } from '../../unavailable.ts'
import { deleteFile } from '../garbage/delete-file.ts'
import type { GarbageCollection } from '../garbage/garbage-collection.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import { declareHashes, isDeclared, isDeclaredChunk, mergeHashes } from '../rows/declare-hashes.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { type FileRow, toChunkLayout, toUpload } from '../rows/file-row.ts'
import { hasEndedBadly, uploadLifetimeSeconds } from '../rows/file-states.ts'
import type { Trash } from '../rows/trash.ts'
import {
  type CreateDependencies,
  checkQuota,
  createFile,
  type UploadManifest,
} from './create-file.ts'

export type UploadDependencies = CreateDependencies & {
  files: FileRepository
  blobs: BlobRepository
  store: ObjectStore
  collect: GarbageCollection
  trash: Pick<Trash, 'removeOldest'>
}

const maxListedChunks = 100

/** An upload that was started or resumed. */
export type Started = { isNew: boolean; file: ModelFile; upload: Upload }

/**
 * Starts an upload, or resumes one that an earlier or concurrent call started with the same manifest or without hashes.
 */
export async function startUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  viewer: Viewer,
  manifest: NewFile,
): Promise<Started> {
  const problem = manifestProblem(manifest)
  if (problem) throw unprocessable(`invalid manifest: ${problem}`)
  return againIfTaken(() => startOrResume(dependencies, model, viewer, manifest))
}

/**
 * Calls `start` again if it returns undefined, because a concurrent call has just started an upload with the same
 * filename: the second time, `start` finds that upload, and resumes or replaces it like an earlier one.
 */
export async function againIfTaken(start: () => Promise<Started | undefined>): Promise<Started> {
  const started = (await start()) ?? (await start())
  if (started) return started
  throw conflict('other uploads of this file start at the same time: try again')
}

async function startOrResume(
  dependencies: UploadDependencies,
  model: ModelRow,
  viewer: Viewer,
  manifest: NewFile,
): Promise<Started | undefined> {
  const { files } = dependencies
  const before = await files.findByName(model.id, manifest.filename)
  const isSame = before && (await isSameUpload(files, before, manifest))
  if (before?.status === 'ready' && !isSame) {
    throw conflict(`another file named ${manifest.filename} already exists: delete it first`, {
      code: 'file_exists',
    })
  }
  if (before?.status === 'processing' && !isSame) {
    throw conflict(
      `another file named ${manifest.filename} is being processed: wait until it is ready, or delete it`,
      { code: 'file_exists' },
    )
  }
  const file = isSame
    ? await resumeUpload(dependencies, before, viewer, manifest)
    : await beginUpload(dependencies, model, pack(manifest), {
        storedKey: await findStoredKey(dependencies, viewer, manifest),
        before,
      })
  return file && toStarted(dependencies, model, file, !isSame)
}

export async function toStarted(
  dependencies: UploadDependencies,
  model: ModelRow,
  file: FileRow,
  isNew: boolean,
): Promise<Started> {
  return {
    isNew,
    file: await dependencies.files.toModelFile(file, model.is_public === 1),
    upload: await listMissingChunks(dependencies, file, { from: 0, limit: maxListedChunks }),
  }
}

const pack = ({ chunk_hashes, ...manifest }: NewFile): UploadManifest => ({
  ...manifest,
  chunkHashes: packHashes(chunk_hashes),
})

/**
 * Lists up to `limit` missing chunks from index `from`, each with a presigned URL, and the total number of missing
 * chunks. Chunks whose hashes are not known yet are counted but not listed. Postpones the upload's expiry.
 */
export async function listMissingChunks(
  dependencies: UploadDependencies,
  file: FileRow,
  { from, limit }: { from: number; limit: number },
): Promise<Upload> {
  const { files } = dependencies
  if (file.status !== 'uploading' || !toUpload(file)) return listMissing(dependencies, file, [], 0)
  const expires_at = await postponeExpiry(files, file)
  const chunks = unpackHashes(await files.getManifest(file.id), file.file_size_bytes)
  const listable = chunks.slice(from).filter(isDeclaredChunk)
  return listMissing(dependencies, { ...file, upload_expires_at: expires_at }, listable, limit)
}

/** Lists up to `limit` missing chunks from `chunks`, and counts all missing chunks of the upload. */
export async function listMissing(
  { store }: Pick<UploadDependencies, 'store'>,
  file: FileRow,
  chunks: readonly ChunkEntry[],
  limit: number,
): Promise<Upload> {
  const upload = toUpload(file)
  const expires_at = file.upload_expires_at
  if (file.status !== 'uploading' || !upload) {
    return { expires_at, missing_chunks: [], missing_count: 0 }
  }
  // `expires_at` is a time on the database's clock. The URLs, however, expire by the clock of the node that signs them.
  const expiresAt = new Date(Date.now() + uploadLifetimeSeconds * 1000)
  const stored = await store.listStoredChunks(upload, toChunkLayout(file))
  const missing_chunks: MissingChunk[] = []
  for (const chunk of chunks) {
    if (missing_chunks.length === limit) break
    if (stored.has(chunk.index)) continue
    const range = chunkRange(chunk.index, file.file_size_bytes)
    const request = store.presignChunkUpload(upload, { ...chunk, ...range }, expiresAt)
    missing_chunks.push({ ...chunk, ...request })
  }
  const missing_count = chunkCount(file.file_size_bytes) - stored.size
  return { expires_at, missing_chunks, missing_count }
}

/**
 * Postpones the upload's expiry and returns the new expiry time. If the disk is full, returns the old expiry time, so
 * that clients can still list missing chunks.
 */
async function postponeExpiry(files: FileRepository, file: FileRow): Promise<string> {
  try {
    return (await files.touch(file.id, uploadLifetimeSeconds)) ?? file.upload_expires_at
  } catch (error) {
    if (error instanceof Error && isStorageFull(error)) return file.upload_expires_at
    throw error
  }
}

/** Whether a file has neither failed nor expired, and matches this manifest as far as its hashes are known. */
async function isSameUpload(
  files: FileRepository,
  row: FileRow,
  manifest: NewFile,
): Promise<boolean> {
  if (isDeclared(row) && row.sha256_hash !== manifest.sha256_hash) return false
  if (row.file_size_bytes !== manifest.file_size_bytes) return false
  if (hasEndedBadly(row.status)) return false
  if (row.status !== 'uploading') return true
  const declared = await files.getManifest(row.id)
  return mergeHashes(declared, packHashes(manifest.chunk_hashes)) !== undefined
}

async function resumeUpload(
  dependencies: UploadDependencies,
  file: FileRow,
  viewer: Viewer,
  manifest: NewFile,
): Promise<FileRow> {
  if (file.status !== 'uploading') return file
  if (isDeclared(file)) return makeRoom(dependencies, file)
  const storedKey = await findStoredKey(dependencies, viewer, manifest)
  const declared = await declareHashes(dependencies.db, file, pack(manifest), storedKey)
  // If the file's bytes were already stored, the chunks that were sent are not needed.
  if (declared.object_key === null) await dependencies.collect.removeUpload(file)
  return makeRoom(dependencies, declared)
}

/**
 * Creates an upload and reserves space for it. If the space cannot be reserved, deletes the upload and throws. Returns
 * undefined if a concurrent call has just started an upload with the same filename.
 */
export async function beginUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  manifest: UploadManifest,
  { storedKey, before }: { storedKey: string | undefined; before: FileRow | undefined },
): Promise<FileRow | undefined> {
  if (before) await clearPlace(dependencies, model, manifest, before)
  const file = await createFile(dependencies, model, manifest, { storedKey, before })
  if (!file) return undefined
  try {
    return await makeRoom(dependencies, file)
  } catch (error) {
    await deleteFile(dependencies, file)
    throw error
  }
}

/**
 * Ends the earlier upload with the same filename and removes its bytes. If the new upload would exceed the quota,
 * throws and changes nothing.
 */
async function clearPlace(
  dependencies: UploadDependencies,
  model: ModelRow,
  manifest: UploadManifest,
  before: FileRow,
) {
  await checkQuota(dependencies, model.owner, manifest.file_size_bytes, before.id)
  await dependencies.collect.giveUp(before.id, 'supersede')
}

/**
 * Reserves space in the store for the rest of a file. If there is not enough space, first removes bytes from the trash.
 * Returns the file's current row.
 */
export async function makeRoom(dependencies: UploadDependencies, file: FileRow): Promise<FileRow> {
  const { files, store, trash, collect } = dependencies
  const upload = toUpload(file)
  if (!upload) return file
  try {
    const uploadId = await store.startUpload(upload, toChunkLayout(file))
    if (uploadId !== upload.uploadId && !(await files.keepUploadId(file, uploadId))) {
      await store.abortUpload({ key: upload.key, uploadId }) // a concurrent call has recorded another upload
    }
    // The upload may have been completed in the meantime, in which case the object is needed. If the upload was
    // canceled in the meantime, the object must be removed here, because the cancellation may have happened before
    // the object was created.
    if (await collect.isNeeded(upload.key)) return await files.get(file.model_id, file.id, true)
    await store.remove(upload.key)
    throw conflict('this upload was canceled while it was starting: start it again')
  } catch (error) {
    if (!hasCode(error, 'storage_full')) throw error
    if ((await trash.removeOldest(error.details.missingBytes)).bytes === 0) throw error
    return makeRoom(dependencies, file) // may fail again, because another upload may have taken the freed space
  }
}

/**
 * Returns the key of the object that contains the file's bytes, so that the client need not send them. Returns
 * undefined if the bytes are not stored, the viewer may not read them, or the store has lost them. Throws if the
 * manifest contradicts the stored file.
 */
async function findStoredKey(
  { blobs, store }: UploadDependencies,
  viewer: Viewer,
  manifest: NewFile,
): Promise<string | undefined> {
  const stored = await blobs.findVisible(manifest.sha256_hash, viewer)
  if (!stored) return undefined
  const { object_key, size_bytes, chunk_hashes } = stored
  if (size_bytes !== manifest.file_size_bytes) {
    const declared = `not ${manifest.file_size_bytes}`
    throw unprocessable(`the file with this SHA-256 has ${size_bytes} bytes, ${declared}`)
  }
  if (Buffer.compare(chunk_hashes, packHashes(manifest.chunk_hashes)) !== 0) {
    throw unprocessable('the file with this SHA-256 has different chunks')
  }
  return (await store.hasObject(object_key, size_bytes)) ? object_key : undefined
}

/** The number of an upload's chunks that are not stored yet. */
export async function countMissingChunks(store: ObjectStore, file: FileRow): Promise<number> {
  const upload = toUpload(file)
  if (!upload) return 0
  const stored = await store.listStoredChunks(upload, toChunkLayout(file))
  return chunkCount(file.file_size_bytes) - stored.size
}
