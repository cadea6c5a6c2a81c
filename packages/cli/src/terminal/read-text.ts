import { readFile } from 'node:fs/promises'
import { isErrno, reasonOfErrno } from '@shoal/files'
import { Failure } from './failure.ts'

/** Reads a text file that the user named, such as a model card. */
export const readText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => notReadable(path, error))

/** Throws the failure for a file or folder that the user named and that cannot be read. */
export function notReadable(path: string, error: unknown): never {
  if (isErrno(error, 'ENOENT')) {
    throw new Failure('not_found', `${path} does not exist.`, { cause: error })
  }
  const failure = Object(error) as NodeJS.ErrnoException
  if (failure.errno === undefined) throw error
  throw new Failure('failed', `${path} cannot be read: ${reasonOfErrno(failure)}.`, {
    cause: error,
  })
}
