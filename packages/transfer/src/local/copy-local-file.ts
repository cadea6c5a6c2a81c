import { constants } from 'node:fs'
import { copyFile, link, realpath, rename, rm } from 'node:fs/promises'
import { exists } from '@shoal/files'
import { getFilePaths } from '../disk/file-paths.ts'
import { tryLockModelFile } from '../disk/lock-model-file.ts'
import { readRecord, writeRecord } from '../disk/record.ts'
import { isUnchanged, readStamp } from '../disk/stamp.ts'
import { fileBusy, fileInTheWay } from '../errors.ts'

/**
 * Error codes that mean that a hard link is not possible: the paths are on different file systems, the file system does
 * not support hard links, or the file already has too many links.
 */
const cannotLink = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Makes a file available under a second path, with a copy of its record. The second path is a hard link or, if that is
 * not possible, a copy. Throws `file_in_the_way` if `target` exists, `file_busy` if `target` is being pulled, or
 * `is_link` if the folder of `target` is a link.
 * @example
 * import { copyLocalFile } from '@shoal/transfer'
 *
 * await copyLocalFile('models/tide/tide.gguf', 'models/tide-copy/tide.gguf')
 */
export async function copyLocalFile(path: string, target: string): Promise<void> {
  const { partial } = getFilePaths(target)
  const release = tryLockModelFile(target)
  if (release === undefined) throw fileBusy(target)
  try {
    if (await exists(target)) throw fileInTheWay(target, 'will not be overwritten')
    // A hard link to a symbolic link with a relative target would not work in another folder.
    await link(await realpath(path), target).catch(async (error) => {
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

/**
 * Copies the record. The copy still identifies the original file on the registry, from which a repair downloads chunks.
 */
async function copyRecord(path: string, target: string) {
  const record = await readRecord(path)
  if (record === undefined) return
  const { device: _device, inode: _inode, ...others } = record
  const isIntact = await isUnchanged(path, record)
  await writeRecord(target, isIntact ? { ...others, ...(await readStamp(target)) } : record)
}
