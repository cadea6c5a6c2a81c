import { access } from 'node:fs/promises'
import { isErrno } from './errno.ts'

/**
 * Whether there is a file or folder at this path. Throws if this cannot be determined, for example if permission is
 * denied.
 */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (isErrno(error, 'ENOENT')) return false
      throw error
    },
  )
}
