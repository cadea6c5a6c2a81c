/** Hashes files of other programs before they are imported, so that a registry can be searched for the same files. */
import { stat } from 'node:fs/promises'
import { type ChunkHashes, hashFileInWorker } from '@shoal/model-file'
import type { LocalFile } from '../disk/list-local-files.ts'
import type { LocalFileRecord } from '../disk/record.ts'
import { type FileStamp, isUnchanged } from '../disk/stamp.ts'
import { fileChanged } from '../errors.ts'
import type { FoundFile } from './found-file.ts'

/** A file's hashes, and the device, inode and modification time of the file that was hashed. */
export type HashedFile = { hashes: ChunkHashes; stamp: FileStamp }

type HashOptions = {
  /** The files on this machine. If one of them refers to the same file and has been hashed, its hashes are returned. */
  known?: readonly LocalFile[]
  signal?: AbortSignal | undefined
  onProgress?: ((bytesDone: number) => void) | undefined
}

/**
 * Hashes a file of another program, unless it has been hashed before and has not changed since.
 * @throws `file_changed` if the file changes while it is being hashed
 * @example
 * import { findAtPath, hashFoundFile, importFile } from '@shoal/transfer'
 *
 * const { files } = await findAtPath('models/tide/tide.gguf')
 * for (const file of files) {
 *   const hashed = await hashFoundFile(file)
 *   await importFile(file, { modelsDirectory: 'models', method: 'link', name: 'wave', hashed })
 * }
 */
export async function hashFoundFile(
  { path, sizeBytes }: FoundFile,
  { known = [], signal, onProgress }: HashOptions = {},
): Promise<HashedFile> {
  for (const { record, imported } of known) {
    if (record?.inode === undefined || imported?.from !== path) continue
    if (!(await isUnchanged(path, record))) continue
    return readHashed(record)
  }
  const [{ mtimeMs }, { dev, ino }] = await Promise.all([stat(path), stat(path, { bigint: true })])
  const stamp = { modified_at: mtimeMs, device: String(dev), inode: String(ino) }
  const hashes = await hashFileInWorker(path, {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  })
  if (!(await isUnchanged(path, { ...stamp, file_size_bytes: sizeBytes }))) throw fileChanged(path)
  return { hashes, stamp }
}

/** The hashes in a record. */
export function readHashed(record: LocalFileRecord): HashedFile {
  const { sha256_hash, file_size_bytes, chunk_size, chunk_hashes } = record
  const { modified_at, device, inode } = record
  return {
    hashes: {
      fileSizeBytes: file_size_bytes,
      sha256_hash,
      chunkSize: chunk_size,
      chunkHashes: Buffer.from(chunk_hashes, 'base64'),
    },
    stamp: {
      modified_at,
      ...(device !== undefined && { device }),
      ...(inode !== undefined && { inode }),
    },
  }
}
