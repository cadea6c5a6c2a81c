import { chunkCount, chunkRange, chunkSizeFor, packHashes } from '@shoal/model-file'
import type { ChunkEntry, NewUpload, Upload } from '@shoal/protocol'
import { conflict, unprocessable } from '../../errors.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import { declareHashes, emptyManifest } from '../rows/declare-hashes.ts'
import type { FileRow } from '../rows/file-row.ts'
import {
  againIfTaken,
  beginUpload,
  listMissing,
  makeRoom,
  type Started,
  toStarted,
  type UploadDependencies,
} from './start-upload.ts'

/**
 * Starts the upload of a file whose hashes are not known yet, or resumes the unfinished upload with this filename and
 * size. If an unfinished upload with this filename has another size, the new upload replaces it.
 */
export function reserveUpload(
  dependencies: UploadDependencies,
  model: ModelRow,
  upload: NewUpload,
): Promise<Started> {
  return againIfTaken(() => reserveOrResume(dependencies, model, upload))
}

async function reserveOrResume(
  dependencies: UploadDependencies,
  model: ModelRow,
  { filename, file_size_bytes }: NewUpload,
): Promise<Started | undefined> {
  const before = await dependencies.files.findByName(model.id, filename)
  if (before?.status === 'ready' || before?.status === 'processing') {
    throw conflict(
      `a file named ${filename} already exists: send the new file's hashes to compare the files`,
      { code: 'file_exists' },
    )
  }
  const isSame = before?.status === 'uploading' && before.file_size_bytes === file_size_bytes
  const manifest = {
    filename,
    file_size_bytes,
    chunk_size: chunkSizeFor(file_size_bytes),
    ...emptyManifest(file_size_bytes),
  }
  const file = isSame
    ? await makeRoom(dependencies, before)
    : await beginUpload(dependencies, model, manifest, { storedKey: undefined, before })
  return file && toStarted(dependencies, model, file, !isSame)
}

/** Declares the hashes of these chunks. Returns those of the chunks that are missing, each with a presigned URL. */
export async function declareChunks(
  dependencies: UploadDependencies,
  file: FileRow,
  chunks: readonly ChunkEntry[],
): Promise<Upload> {
  const { file_size_bytes: sizeBytes } = file
  const { chunkHashes } = emptyManifest(sizeBytes)
  for (const chunk of chunks) {
    const { index, size } = chunk
    const expected = index < chunkCount(sizeBytes) ? chunkRange(index, sizeBytes).size : undefined
    if (expected === undefined) {
      throw unprocessable(`a file of ${sizeBytes} bytes has no chunk ${index}`)
    }
    if (size !== expected) {
      throw unprocessable(`chunk ${index} has ${size} bytes, not ${expected}`)
    }
    chunkHashes.set(packHashes([chunk]), index * 32)
  }
  const declared = await declareHashes(dependencies.db, file, { sha256_hash: '', chunkHashes })
  return listMissing(dependencies, declared, chunks, chunks.length)
}
