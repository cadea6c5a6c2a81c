/**
 * The stamp of a file shows whether the file is still the one that was hashed. The modification time and size are
 * enough for a file that only shoal writes. A file that other programs write too, behind a symbolic link or with a
 * second hard link, can be replaced by an older file, so its stamp also contains the device and inode.
 */
import { lstat, stat } from 'node:fs/promises'

export type FileStamp = {
  /** The modification time, in milliseconds. */
  modified_at: number
  /** The device and inode numbers, in decimal; only for files that other programs use too. */
  device?: string
  inode?: string
}

type Stamped = FileStamp & { file_size_bytes: number }

/** Whether other programs use the same bytes: `path` is a symbolic link, or the file has another hard link. */
export async function isForeign(path: string): Promise<boolean> {
  const found = await lstat(path)
  return found.isSymbolicLink() || found.nlink > 1
}

/** Reads the stamp of the file at `path`. Follows symbolic links. */
export async function readStamp(path: string): Promise<FileStamp> {
  // With `bigint`, `mtimeMs` has no fraction; without `bigint`, `ino` may be rounded.
  const [exact, { mtimeMs }] = await Promise.all([stat(path, { bigint: true }), stat(path)])
  if (!(await isForeign(path))) return { modified_at: mtimeMs }
  return { modified_at: mtimeMs, device: String(exact.dev), inode: String(exact.ino) }
}

/**
 * Whether the file at `path` has not changed since the stamp was read. Rejects if there is no such file. A file that
 * was replaced by a symbolic link counts as changed, because the target of the link has never been hashed.
 */
export async function isUnchanged(path: string, stamp: Stamped): Promise<boolean> {
  const { size, mtimeMs } = await stat(path)
  if (size !== stamp.file_size_bytes || mtimeMs !== stamp.modified_at) return false
  if (stamp.inode === undefined) return !(await lstat(path)).isSymbolicLink()
  const { dev, ino } = await stat(path, { bigint: true })
  return String(dev) === stamp.device && String(ino) === stamp.inode
}
