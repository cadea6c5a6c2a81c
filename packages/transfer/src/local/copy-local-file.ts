import { constants } from 'node:fs'
import { copyFile, link, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@shoal/log/folder'
import { exists } from '../disk/exists.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import { tryLock } from '../disk/lock.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { fileInTheWay } from '../errors.ts'

/**
 * Errors that mean that a hard link is not possible: between file systems, on a file system without hard links, or to a
 * file with too many of them.
 */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Creates a second name for a file, with a copy of its record. The second name is a hard link, or a copy if the file
 * system does not support hard links. Throws `file_in_the_way` if `target` exists.
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
    if (await exists(target)) throw fileInTheWay(target, 'is a different file')
    await link(path, target).catch(async (error) => {
      if (!cannotLink.has(error.code)) throw error
      await rm(partial, { force: true }) // a link at this path would redirect the copy
      await copyFile(path, partial, constants.COPYFILE_EXCL)
      await rename(partial, target)
    })
    await copyRecord(path, target)
  } finally {
    release()
  }
}

/** Copies the record. The copy still refers to the original model on the registry, so that a repair can download it. */
async function copyRecord(path: string, target: string) {
  const record = await readRecord(path)
  if (record === undefined) return
  const [from, to] = await Promise.all([stat(path), stat(target)])
  const isUnchanged = record.modified_at === from.mtimeMs
  await writeRecord(target, isUnchanged ? { ...record, modified_at: to.mtimeMs } : record)
}
