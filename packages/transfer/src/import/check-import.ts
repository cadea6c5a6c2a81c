import { stat } from 'node:fs/promises'
import { hashFileInWorker } from '@shoal/model-file'
import { getFilePaths } from '../disk/file-paths.ts'
import { type ImportRecord, readImportRecord, writeImportRecord } from '../disk/import-record.ts'
import { forgetTorrent } from '../disk/kept-torrent.ts'
import { tryLock } from '../disk/lock.ts'
import { type LocalFileRecord, readRecord, writeRecord } from '../disk/record.ts'
import { isUnchanged, readStamp } from '../disk/stamp.ts'
import { damagedFile, fileChanged } from '../errors.ts'
import type { LocalFile } from '../local/list-local-files.ts'

type CheckOptions = {
  signal?: AbortSignal | undefined
  onProgress?: ((bytesDone: number) => void) | undefined
}

/**
 * Makes sure that an imported or linked file is the one that was hashed: hashes it if it never was, or if its device,
 * inode, size or modification time has changed. Then a record contains its hashes. Returns false if another process is
 * using the file, so that the check must be repeated later.
 * @throws `damaged_file` if the file does not have the hash in its record or in its store
 * @throws `file_changed` if the file changes meanwhile
 */
export async function checkImport(
  file: Pick<LocalFile, 'path' | 'filename' | 'modelName'>,
  { signal, onProgress }: CheckOptions = {},
): Promise<boolean> {
  const { path } = file
  const release = tryLock(getFilePaths(path).lock)
  if (release === undefined) return false
  try {
    const [record, imported] = await Promise.all([readRecord(path), readImportRecord(path)])
    if (record !== undefined && (await isUnchanged(path, record))) return true
    if (imported?.mismatch && (await isUnchanged(path, imported.mismatch))) throw damagedFile(path)

    const before = await readStamp(path)
    const hashes = await hashFileInWorker(path, {
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    })
    const stamp = await readStamp(path)
    const { size } = await stat(path)
    const isSteady = JSON.stringify(stamp) === JSON.stringify(before)
    if (!isSteady || size !== hashes.fileSizeBytes) throw fileChanged(path)

    const wanted = wantedHash(record, imported)
    if (wanted !== undefined && wanted !== hashes.sha256_hash) {
      const { sha256_hash } = hashes
      if (imported) {
        const mismatch = { ...stamp, file_size_bytes: size, sha256_hash }
        await writeImportRecord(path, { ...imported, mismatch })
      }
      throw damagedFile(path)
    }
    await forgetTorrent(path)
    const { registry, model_id, file_id, model_name } = imported?.twin ?? record ?? {}
    const isShared = imported ? imported.is_shared : record?.without_peers !== true
    await writeRecord(path, {
      format: 1,
      ...(registry && model_id && file_id && { registry, model_id, file_id }),
      model_name: model_name ?? file.modelName,
      filename: file.filename,
      quantization: imported?.quantization ?? record?.quantization ?? null,
      sha256_hash: hashes.sha256_hash,
      file_size_bytes: size,
      chunk_size: hashes.chunkSize,
      chunk_hashes: Buffer.from(hashes.chunkHashes).toString('base64'),
      pulled_at: record?.pulled_at ?? imported?.imported_at ?? new Date().toISOString(),
      ...stamp,
      ...(!isShared && { without_peers: true }),
    })
    return true
  } finally {
    release()
  }
}

/**
 * The hash that the file must have; undefined if it may have any. A file that the user made can change, but a file of a
 * registry or of a store that names files by their hash cannot.
 */
function wantedHash(
  record: LocalFileRecord | undefined,
  imported: ImportRecord | undefined,
): string | undefined {
  if (imported?.claimed_sha256) return imported.claimed_sha256
  return record?.registry === undefined ? undefined : record.sha256_hash
}
