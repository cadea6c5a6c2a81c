import { constants } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignoreMissing } from '@shoal/files'
import { getFilePaths } from './file-paths.ts'
import { ensureRoom } from './room.ts'

/**
 * Copies the file at `from`, which other programs also use, to the partial file of `path`, which only shoal uses. The
 * original is not changed. The copy appears under its name only when it is complete. It takes no additional disk space
 * if the file system can share blocks.
 * @param from The file to copy; a symbolic link is followed.
 * @throws `no_room` if the disk is too full
 */
export async function copyToPartial(from: string, path: string, sizeBytes: number): Promise<void> {
  const { partial, copy } = getFilePaths(path)
  await mkdir(dirname(copy), { recursive: true })
  await rm(copy, { force: true }) // left by an earlier attempt, or a link that would redirect the copy
  try {
    await copyFile(from, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE).catch(
      async () => {
        await rm(copy, { force: true })
        await ensureRoom(copy, sizeBytes)
        await copyFile(from, copy, constants.COPYFILE_EXCL)
      },
    )
    await chmod(copy, 0o644) // the original may be read-only, and a copy has the original's mode
    const handle = await open(copy, 'r+')
    await handle.sync().finally(() => handle.close())
    await rename(copy, partial)
  } catch (error) {
    await rm(copy, { force: true })
    throw error
  }
}

/**
 * If a partial file has another hard link, replaces the partial file with a copy, so that writing to it changes no
 * other file.
 */
export async function ownPartial(path: string): Promise<void> {
  const { partial } = getFilePaths(path)
  const found = await lstat(partial).catch(ignoreMissing)
  if (found !== undefined && found.nlink > 1) await copyToPartial(partial, path, found.size)
}
