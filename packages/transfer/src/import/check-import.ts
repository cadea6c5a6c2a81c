import { hasCode } from '@shoal/core/errors'
import { isErrno } from '@shoal/files'
import { type ChunkHashes, hashFileInWorker } from '@shoal/model-file'
import { type ImportRecord, readImportRecord, writeImportRecord } from '../disk/import-record.ts'
import { forgetTorrent } from '../disk/kept-torrent.ts'
import type { LocalFile } from '../disk/list-local-files.ts'
import { tryLockModelFile } from '../disk/lock-model-file.ts'
import { type LocalFileRecord, readRecord, writeRecord } from '../disk/record.ts'
import { type FileStamp, isUnchanged, readStamp } from '../disk/stamp.ts'
import { damagedFile, fileChanged } from '../errors.ts'

type CheckOptions = {
  signal?: AbortSignal | undefined
  onProgress?: ((bytesDone: number) => void) | undefined
}

/**
 * Makes sure that an imported or linked file is the one that was hashed: hashes it if it has never been hashed, or if
 * its device, inode, size or modification time has changed. Afterwards, the file's record contains its hashes. Holds
 * the file's lock only to write the record, so that the file can be removed while it is being hashed. Returns false if
 * the record could not be written, because another process is pulling or removing the file, or its folder is
 * read-only or a link.
 * @throws `damaged_file` if the file does not have the hash in its record or in its store
 * @throws `file_changed` if the file changes while it is being hashed
 * @example
 * import { checkImport, listLocalFiles } from '@shoal/transfer'
 *
 * for (const file of await listLocalFiles('models')) await checkImport(file)
 */
export async function checkImport(
  file: Pick<LocalFile, 'path' | 'filename' | 'modelName'>,
  { signal, onProgress }: CheckOptions = {},
): Promise<boolean> {
  const { path } = file
  const [record, imported] = await Promise.all([readRecord(path), readImportRecord(path)])
  if (record !== undefined && (await isUnchanged(path, record))) return true
  if (imported?.mismatch && (await isUnchanged(path, imported.mismatch))) throw damagedFile(path)

  const before = await readStamp(path)
  const hashes = await hashFileInWorker(path, {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  })
  const stamp = { ...before, file_size_bytes: hashes.fileSizeBytes }
  if (!(await isUnchanged(path, stamp))) throw fileChanged(path)
  const { sha256_hash } = hashes
  const wanted = wantedHash(record, imported)
  const isIntact = wanted === undefined || wanted === sha256_hash
  const isSaved = await underLock(path, async () => {
    if (!(await isUnchanged(path, stamp))) throw fileChanged(path)
    if (isIntact) {
      await forgetTorrent(path)
      await writeRecord(path, toRecord(file, { stamp, hashes, record, imported }))
    } else if (imported) {
      await writeImportRecord(path, { ...imported, mismatch: { ...stamp, sha256_hash } })
    }
  })
  if (!isIntact) throw damagedFile(path)
  return isSaved
}

/** Calls `write` under the file's lock. Returns false if the lock is held elsewhere, or nothing can be written there. */
async function underLock(path: string, write: () => Promise<void>): Promise<boolean> {
  const release = lockOwn(path)
  if (release === undefined) return false
  try {
    await write()
    return true
  } finally {
    release()
  }
}

function lockOwn(path: string) {
  try {
    return tryLockModelFile(path)
  } catch (error) {
    if (hasCode(error, 'is_link') || isErrno(error, 'EACCES', 'EPERM', 'EROFS')) return undefined
    throw error
  }
}

type Checked = {
  stamp: FileStamp
  hashes: ChunkHashes
  record: LocalFileRecord | undefined
  imported: ImportRecord | undefined
}

/** The record of an imported file that has been hashed. */
export function toRecord(
  { filename, modelName }: Pick<LocalFile, 'filename' | 'modelName'>,
  { stamp, hashes, record, imported }: Checked,
): LocalFileRecord {
  const { registry, model_id, file_id, model_name } = imported?.twin ?? record ?? {}
  const isShared = imported ? imported.is_shared : record?.without_peers !== true
  return {
    format: 1,
    ...(registry && model_id && file_id && { registry, model_id, file_id }),
    model_name: model_name ?? modelName,
    filename,
    quantization: imported?.quantization ?? record?.quantization ?? null,
    sha256_hash: hashes.sha256_hash,
    file_size_bytes: hashes.fileSizeBytes,
    chunk_size: hashes.chunkSize,
    chunk_hashes: Buffer.from(hashes.chunkHashes).toString('base64'),
    pulled_at: record?.pulled_at ?? imported?.imported_at ?? new Date().toISOString(),
    ...stamp,
    ...(!isShared && { without_peers: true }),
  }
}

/**
 * The hash that the file must have; undefined if any hash is acceptable. A user may change their own files, but a file
 * from a registry, or from a store that names files by their hash, must not change.
 */
function wantedHash(
  record: LocalFileRecord | undefined,
  imported: ImportRecord | undefined,
): string | undefined {
  if (imported?.claimed_sha256) return imported.claimed_sha256
  return record?.registry === undefined ? undefined : record.sha256_hash
}
