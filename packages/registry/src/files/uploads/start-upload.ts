import { hasCode } from '@shoal/core/errors'
import {
  chunkCount,
  chunkRange,
  manifestProblem,
  packHashes,
  unpackHashes,
} from '@shoal/model-file'
import type { MissingChunk, ModelFile, NewFile, Upload } from '@shoal/protocol'
import type { Viewer } from '../../accounts/caller.ts'
import { conflict, unprocessable } from '../../errors.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { isStorageFull } from '../../unavailable.ts'
import { deleteFile } from '../garbage/delete-file.ts'
import type { GarbageCollection } from '../garbage/garbage-collection.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { FileRepository } from '../rows/file-repository.ts'
import { type FileRow, toChunkLayout } from '../rows/file-row.ts'
import { hasEndedBadly, uploadLifetimeSeconds } from '../rows/file-states.ts'
import type { Trash } from '../rows/trash.ts'
import { type CreateDependencies, checkQuota, createFile } from './create-file.ts'

export type UploadDependencies = CreateDependencies & {
  files: FileRepository
  blobs: BlobRepository
  store: ObjectStore
  collect: GarbageCollection
  trash: Pick<Trash, 'removeOldest'>
}

const maxListedChunks = 100

/** Starts an upload, or resumes the one that an earlier identical call started. */
export async function startUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  viewer: Viewer,
  manifest: NewFile,
): Promise<{ isNew: boolean; file: ModelFile; upload: Upload }> {
  const problem = manifestProblem(manifest)
  if (problem) throw unprocessable(`invalid manifest: ${problem}`)

  const { files } = dependencies
  const before = await files.findByName(model.id, manifest.filename)
  const isSame = before && (await isSameUpload(files, before, manifest))
  if (before?.status === 'ready' && !isSame) {
    throw conflict(`another file named ${manifest.filename} already exists: delete it first`)
  }
  if (before?.status === 'processing' && !isSame) {
    throw conflict(
      `another file named ${manifest.filename} is being processed: wait until it is ready, or delete it`,
    )
  }
  const file = isSame
    ? await resumeUpload(dependencies, before)
    : await beginUpload(dependencies, model, manifest, { viewer, before })
  return {
    isNew: !isSame,
    file: files.toModelFile(file, model.is_public === 1),
    upload: await listMissingChunks(dependencies, file, { from: 0, limit: maxListedChunks }),
  }
}

/** The missing chunks from index `from`, each with a presigned URL, and the total number of missing chunks. */
export async function listMissingChunks(
  { files, store }: UploadDependencies,
  file: FileRow,
  { from, limit }: { from: number; limit: number },
): Promise<Upload> {
  const { object_key } = file
  if (file.status !== 'uploading' || object_key === null) {
    return { expires_at: file.upload_expires_at, missing_chunks: [], missing_count: 0 }
  }
  const expires_at = await postponeExpiry(files, file)
  const expiresAt = new Date(Date.now() + uploadLifetimeSeconds * 1000) // this process's clock also checks signatures
  const stored = await store.listStoredChunks(object_key, toChunkLayout(file))
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
  return { expires_at, missing_chunks, missing_count }
}

/**
 * Postpones the expiry and returns it. If the disk is full, the old one is kept, so that clients can still list missing
 * chunks.
 */
async function postponeExpiry(files: FileRepository, file: FileRow): Promise<string> {
  try {
    return (await files.touch(file.id, uploadLifetimeSeconds)) ?? file.upload_expires_at
  } catch (error) {
    if (error instanceof Error && isStorageFull(error)) return file.upload_expires_at
    throw error
  }
}

/** Whether a row is for the same bytes and chunks as this manifest, and can be continued. */
async function isSameUpload(
  files: FileRepository,
  row: FileRow,
  manifest: NewFile,
): Promise<boolean> {
  if (row.sha256_hash !== manifest.sha256_hash) return false
  if (row.file_size_bytes !== manifest.file_size_bytes) return false
  if (hasEndedBadly(row.status)) return false
  if (row.status !== 'uploading') return true
  const declared = await files.getManifest(row.id)
  return Buffer.compare(declared, packHashes(manifest.chunk_hashes)) === 0
}

async function resumeUpload(dependencies: UploadDependencies, file: FileRow): Promise<FileRow> {
  if (file.status !== 'uploading') return file
  await makeRoom(dependencies, file)
  return dependencies.files.get(file.model_id, file.id, true)
}

/** Creates an upload and reserves space for it. If there is not enough space, its row is deleted again. */
async function beginUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  manifest: NewFile,
  { viewer, before }: { viewer: Viewer; before: FileRow | undefined },
): Promise<FileRow> {
  const storedKey = await findStoredKey(dependencies, viewer, manifest)
  if (before) await clearPlace(dependencies, model, manifest, before)
  const file = await createFile(dependencies, model, manifest, { storedKey, before })
  try {
    await makeRoom(dependencies, file)
  } catch (error) {
    await deleteFile(dependencies, file)
    throw error
  }
  return file
}

/** Cancels the file that had the name before and removes its bytes. Throws first if the quota would be exceeded. */
async function clearPlace(
  dependencies: UploadDependencies,
  model: ModelRow,
  manifest: NewFile,
  before: FileRow,
) {
  await checkQuota(dependencies, model.owner, manifest.file_size_bytes, before.id)
  await dependencies.collect.giveUp(before.id, 'supersede')
}

/** Reserves space in the store for the rest of a file. If there is not enough, space is freed from the trash first. */
async function makeRoom(dependencies: UploadDependencies, file: FileRow): Promise<void> {
  const { store, trash, collect } = dependencies
  if (file.object_key === null) return
  try {
    await store.startUpload(file.object_key, toChunkLayout(file))
    // The upload may have completed in the meantime. If it was cancelled, its bytes were removed before the store had
    // any.
    if (await collect.isNeeded(file.object_key)) return
    await store.remove(file.object_key)
    throw conflict('this upload was cancelled at the same time: start it again')
  } catch (error) {
    if (!hasCode(error, 'storage_full')) throw error
    if ((await trash.removeOldest(error.details.missingBytes)).bytes === 0) throw error
    await makeRoom(dependencies, file) // another upload may have taken the freed space
  }
}

/**
 * The object with these bytes, if they are already stored and the viewer may read them: then they need not be sent
 * again, unless the store has lost them. Throws if the manifest contradicts the stored file.
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

/** The number of chunks of an upload that are not stored yet. */
export async function countMissingChunks(store: ObjectStore, file: FileRow): Promise<number> {
  if (file.object_key === null) return 0
  const stored = await store.listStoredChunks(file.object_key, toChunkLayout(file))
  return chunkCount(file.file_size_bytes) - stored.size
}
