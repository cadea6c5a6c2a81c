import { existsSync } from 'node:fs'
import { rmdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { getFilePaths } from '../disk/file-paths.ts'
import { tryLock } from '../disk/lock.ts'
import { findLinkTarget } from '../disk/refuse-link.ts'
import { fileBusy } from '../errors.ts'
import { planRemoval, type Removal } from './plan-removal.ts'

/**
 * What `removeLocalFiles` would do now.
 * @example
 * import { previewRemoval } from '@shoal/transfer'
 *
 * const removal = await previewRemoval('models', ['models/tide/tide.gguf'])
 */
export async function previewRemoval(
  modelsDirectory: string,
  paths: readonly string[],
): Promise<Removal> {
  return (await planRemoval(modelsDirectory, paths)).removal
}

/**
 * Removes model files, their partials and what shoal knows of them, and answers what that freed and what stays. Nothing
 * that lies outside the models folder is touched. Throws `file_busy`, before anything is removed, where one of
 * them is being pulled, and `is_link` as `planRemoval` does.
 * @example
 * import { copyLocalFile, removeLocalFiles } from '@shoal/transfer'
 *
 * await copyLocalFile('models/tide/tide.gguf', 'models/tide-old/tide.gguf')
 * const removal = await removeLocalFiles('models', ['models/tide-old/tide.gguf'])
 */
export async function removeLocalFiles(
  modelsDirectory: string,
  paths: readonly string[],
): Promise<Removal> {
  await planRemoval(modelsDirectory, paths) // refuses before locks are made
  using locks = new DisposableStack()
  const ownLocks = paths.flatMap((path) => takeLock(path, locks))
  const { removal, entries, folders } = await planRemoval(modelsDirectory, paths)
  for (const entry of [...entries, ...ownLocks]) await unlink(entry).catch(unlessGone)
  locks.dispose() // SQLite keeps a file of its own beside a lock that is held
  for (const folder of folders) await rmdir(folder).catch(unlessInUse)
  return removal
}

/** Answers the path of the lock, if it is to be removed. Behind a link no lock is made, and none is removed. */
function takeLock(path: string, locks: DisposableStack): string[] {
  const { lock } = getFilePaths(path)
  const isElsewhere = [dirname(path), dirname(lock)].some(
    (folder) => findLinkTarget(folder) !== undefined,
  )
  if (isElsewhere && !existsSync(lock)) return []
  const release = tryLock(lock)
  if (release === undefined) throw fileBusy(path)
  locks.defer(release)
  return isElsewhere ? [] : [lock]
}

/** Another process, or somebody's file manager, was quicker. */
function unlessGone(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
}

function unlessInUse(error: NodeJS.ErrnoException) {
  const isInUse = ['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOENT'].includes(error.code ?? '')
  if (!isInUse) throw error
}
