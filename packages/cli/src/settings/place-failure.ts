/** Errors for files and folders that shoal cannot read or write. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { Failure } from '../terminal/failure.ts'
import type { Places } from './places.ts'

const refusals = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG'])
const fileCalls = /^(mkdir|open|stat|lstat|scandir|rename|unlink|rmdir|link|copyfile)$/

/** Turns a system error about a file or folder into a failure. Returns undefined for other errors. */
export function placeFailure(error: unknown, places: Places): Failure | undefined {
  if (!(error instanceof Error) || error instanceof Failure) return undefined
  const { code = '', path, syscall = '', errno = 0 } = error as NodeJS.ErrnoException
  const isRefusal = refusals.has(code) || (code === 'ENOENT' && syscall === 'mkdir')
  if (path === undefined || !fileCalls.test(syscall) || !isRefusal) return undefined
  const isOwn = isIn(path, places)
  const message = `${formatSubject(path, syscall)}: ${findReason(code, syscall) ?? getSystemErrorMessage(errno)}.`
  return new Failure('failed', message, {
    hint: isOwn
      ? 'shoal needs to store files at this path. Make the path writable, or set SHOAL_HOME to another folder.'
      : 'Choose another path.',
    details: { path },
    cause: error,
  })
}

function formatSubject(path: string, syscall: string): string {
  if (syscall === 'mkdir') return `The folder ${path} cannot be created`
  const folder = dirname(path)
  return isWritable(folder) && existsSync(path)
    ? `The file ${path} cannot be opened`
    : `The folder ${folder} cannot be used`
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false // the reason is not needed, because the error being reported has its own
  }
}

function findReason(code: string, syscall: string): string | undefined {
  if (code === 'ENOENT' && syscall === 'mkdir') return 'its file system does not allow new folders'
  if (code === 'EEXIST') return 'a file with this name exists'
  if (code === 'ENOTDIR') return 'part of its path is not a folder'
  return undefined
}

function isIn(path: string, places: Places): boolean {
  return Object.values(places).some(
    (place) => path === place || path.startsWith(place + sep) || place.startsWith(path + sep),
  )
}
