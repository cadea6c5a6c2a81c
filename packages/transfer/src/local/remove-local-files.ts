import { existsSync } from 'node:fs'
import { rmdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignoreMissing } from '@shoal/files'
import { lockFile, removeLocks } from '@shoal/files/lock'
import { getFilePaths } from '../disk/file-paths.ts'
import { findLinkTarget } from '../disk/refuse-link.ts'
import { fileBusy } from '../errors.ts'
import { planRemoval, type Removal } from './plan-removal.ts'

/** The hashes of an imported file are recorded under its lock, which takes milliseconds. A pull takes longer. */
const maxWaitMs = 1_000

/**
 * Returns what `removeLocalFiles` would do now, without removing anything.
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
 * Removes model files with their partial files and records. Returns how much disk space was freed, which links were
 * deleted, and which folders remain. Never changes anything outside the models folder. If one of the files is being
 * pulled, throws `file_busy` before anything is removed. Throws `is_link` in the same cases as `planRemoval`.
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
  await planRemoval(modelsDirectory, paths) // if it throws, no lock file has been created yet
  using locks = new DisposableStack()
  const ownLocks: string[] = []
  for (const path of paths) ownLocks.push(...(await takeLock(path, locks)))
  const { removal, entries, folders } = await planRemoval(modelsDirectory, paths)
  for (const entry of entries) await unlink(entry).catch(ignoreMissing) // another process may have deleted it
  // The locks are released before the folders are removed, because SQLite keeps a second file beside a held lock.
  await removeLocks(ownLocks, () => locks.dispose())
  for (const folder of folders) await rmdir(folder).catch(unlessInUse)
  return removal
}

/**
 * Takes the lock of a file, and returns the path of the lock file if it is to be removed. If the folder is a link, no
 * lock file is created or removed.
 */
async function takeLock(path: string, locks: DisposableStack): Promise<string[]> {
  const { lock } = getFilePaths(path)
  const isElsewhere = [dirname(path), dirname(lock)].some(
    (folder) => findLinkTarget(folder) !== undefined,
  )
  if (isElsewhere && !existsSync(lock)) return []
  const signal = AbortSignal.timeout(maxWaitMs)
  const release = await lockFile(lock, { signal, pollMs: 20 }).catch((error) => {
    throw error === signal.reason ? fileBusy(path) : error
  })
  locks.defer(release)
  return isElsewhere ? [] : [lock]
}

function unlessInUse(error: NodeJS.ErrnoException) {
  const isInUse = ['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOENT'].includes(error.code ?? '')
  if (!isInUse) throw error
}
