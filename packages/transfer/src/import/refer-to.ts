import { symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cannotRefer } from '../errors.ts'

/**
 * Makes a symbolic link to another program's file.
 * @throws `cannot_link` if the file system does not support symbolic links, as on USB sticks, or if the user may not
 * create them, as on Windows without developer mode
 */
export async function referTo(
  target: string,
  path: string,
  makeLink: (target: string, path: string) => Promise<void> = symlink,
): Promise<void> {
  await makeLink(target, path).catch((error: NodeJS.ErrnoException) => {
    // `EACCES` is not included, because it means that the user has no write permission for the folder.
    const isRefused = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code ?? '')
    throw isRefused ? cannotRefer(target, dirname(path)) : error
  })
}
