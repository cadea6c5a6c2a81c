/** Files that contain secrets, which other users of the machine must not read. */
import { chmodSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { isErrno } from './errno.ts'

/** The permission bits of everyone except the file's owner. */
export const othersAndGroup = 0o077

/** Returns the content of a file with a secret. Throws the system's error if the file cannot be read. */
export const readSecretFile = (path: string): string => readFileSync(path, 'utf8')

/** Creates an empty file that only its owner may read and write, unless there is a file at this path. */
export const createSecretFile = (path: string): void => closeSync(openSync(path, 'a', 0o600))

/**
 * Takes permission bits from a file or folder, such as `othersAndGroup`. Returns false if it still has some of them, for
 * example because it belongs to another user. Does nothing if there is no such file, or on Windows.
 */
export function takePermissions(path: string, bits: number): boolean {
  if (process.platform === 'win32') return true
  const readMode = () => statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  const mode = readMode()
  if ((mode & bits) === 0) return true
  try {
    chmodSync(path, mode & ~bits & 0o7777)
  } catch (error) {
    if (!isErrno(error, 'EPERM', 'EROFS', 'ENOTSUP', 'EACCES')) throw error
  }
  return (readMode() & bits) === 0 // some file systems ignore new permissions
}
