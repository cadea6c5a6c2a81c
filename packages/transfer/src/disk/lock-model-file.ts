/**
 * The locks of model files. Every change of a model's folder needs the lock of a file in it, so links are refused
 * here: shoal does not change a folder that is not its own.
 */
import { dirname } from 'node:path'
import { type LockOptions, lockFile, tryLock } from '@shoal/files/lock'
import { getFilePaths } from './file-paths.ts'
import { refuseLink } from './refuse-link.ts'

/** Throws `is_link` if a model's folder, or the folder with shoal's own files in it, is a link. */
export function refuseLinkedFolder(path: string): void {
  refuseLink(dirname(path))
  refuseLink(dirname(getFilePaths(path).lock))
}

/** Waits for the lock of the model file at `path`. Returns a function that releases the lock. */
export async function lockModelFile(path: string, options: LockOptions): Promise<() => void> {
  refuseLinkedFolder(path)
  return await lockFile(getFilePaths(path).lock, options)
}

/** Like `lockModelFile`, but returns undefined if the lock is held elsewhere. */
export function tryLockModelFile(path: string): (() => void) | undefined {
  refuseLinkedFolder(path)
  return tryLock(getFilePaths(path).lock)
}
