import { symlink } from 'node:fs/promises'
import { cannotRefer } from '../errors.ts'

/**
 * Makes a symbolic link to another program's file, for the model in `folder`.
 * @throws `cannot_link` if the file system does not support symbolic links, as on USB sticks, or if the user may not
 * create them, as on Windows without developer mode
 */
export async function referTo(
  target: string,
  path: string,
  folder: string,
  makeLink: (target: string, path: string) => Promise<void> = symlink,
): Promise<void> {
  await makeLink(target, path).catch((error: NodeJS.ErrnoException) => {
    // `EACCES` is not included, because it means that the user has no write permission for the folder.
    const isRefused = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code ?? '')
    throw isRefused ? cannotRefer(target, folder) : error
  })
}
