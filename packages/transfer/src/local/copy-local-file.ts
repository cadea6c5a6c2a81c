import { constants } from 'node:fs'
import { copyFile, link, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'
import { exists } from '../disk/exists.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import { tryLock } from '../disk/lock.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { fileInTheWay } from '../errors.ts'

/** What file systems without hard links answer, or those whose file has enough of them. */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Gives a file another name with all that shoal knows of it: a hard link, or a copy where there can be none. Throws
 * `file_in_the_way` where something stands at `target`.
 * @example
 * import { copyLocalFile } from '@shoal/transfer'
 *
 * await copyLocalFile('models/tide/tide.gguf', 'models/tide-copy/tide.gguf')
 */
export async function copyLocalFile(path: string, target: string): Promise<void> {
  const { partial, lock } = getFilePaths(target)
  makeFolder(dirname(target))
  const release = tryLock(lock)
  if (release === undefined) throw fileInTheWay(target, 'is being pulled')
  try {
    if (await exists(target)) throw fileInTheWay(target, 'is another file')
    await link(path, target).catch(async (error) => {
      if (!cannotLink.has(error.code)) throw error
      await rm(partial, { force: true }) // a link there would have the bytes written elsewhere
      await copyFile(path, partial, constants.COPYFILE_EXCL)
      await rename(partial, target)
    })
    await copyRecord(path, target)
  } finally {
    release()
  }
}

/** It still names the model of the registry: a repair fetches from there. */
async function copyRecord(path: string, target: string) {
  const record = await readRecord(path)
  if (record === undefined) return
  const [from, to] = await Promise.all([stat(path), stat(target)])
  const isUnchanged = record.modified_at === from.mtimeMs
  await writeRecord(target, isUnchanged ? { ...record, modified_at: to.mtimeMs } : record)
}
