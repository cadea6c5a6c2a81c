/** Errors for files and folders that shoal cannot read or write. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { errnoOf, reasonOfErrno } from '@shoal/files'
import { Failure } from '../terminal/failure.ts'
import type { Places } from './places.ts'

const fileCalls =
  /^(access|chmod|copyfile|link|lstat|mkdir|open|readlink|realpath|rename|rmdir|scandir|stat|statfs|symlink|unlink|utime)$/
/** Errors of calls on open files have no path, and sockets have the same calls, but not these errors. */
const openFileErrors = new Set(['EDQUOT', 'EIO', 'ENOSPC', 'EREMOTEIO', 'ESTALE'])

const wayOut: { [code: string]: string } = {
  EBUSY: 'Try again when the other program has finished.',
  EDQUOT: 'Downloaded data is kept. Delete files of yours, then run the same command again.',
  EIO: 'Check the disk and the system log.',
  EMFILE: 'Raise the limit on open files (ulimit -n).',
  ENFILE: 'Stop other programs, then run the same command again.',
  ENOSPC: 'Downloaded data is kept. Free up space, then run the same command again.',
}
const connectAgain = 'Connect the disk again, then run the same command again.'
for (const code of ['EHOSTDOWN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENODEV'])
  wayOut[code] = connectAgain
for (const code of ['ENOTCONN', 'ENXIO', 'EREMOTEIO', 'ESTALE']) wayOut[code] = connectAgain

/** Turns a system error about a file or folder into a failure. Returns undefined for other errors. */
export function placeFailure(error: unknown, places: Places): Failure | undefined {
  if (!(error instanceof Error) || error instanceof Failure) return undefined
  const { path, syscall = '' } = error as NodeJS.ErrnoException
  const code = errnoOf(error) ?? ''
  const isOpen = syscall !== '' && openFileErrors.has(code)
  const hasPath = path !== undefined && fileCalls.test(syscall)
  if (!(hasPath || isOpen) || (code === 'ENOENT' && syscall !== 'mkdir')) return undefined
  const subject = hasPath ? formatSubject(path, syscall) : 'A file cannot be read or written'
  const isOwn = path !== undefined && isIn(path, places)
  const elsewhere = isOwn
    ? 'shoal needs to store files at this path. Make the path writable, or set SHOAL_HOME to another folder.'
    : 'Choose another path.'
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  return new Failure(isFull ? 'no_room' : 'failed', `${subject}: ${findReason(error, syscall)}.`, {
    hint: wayOut[code] ?? elsewhere,
    details: { path },
    cause: error,
  })
}

function formatSubject(path: string, syscall: string): string {
  if (syscall === 'mkdir') return `The folder ${path} cannot be created`
  const folder = /^(rmdir|scandir|statfs)$/.test(syscall) ? path : dirname(path)
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

function findReason(error: NodeJS.ErrnoException, syscall: string): string {
  const isNoPlace = error.code === 'ENOENT' && syscall === 'mkdir'
  return isNoPlace ? 'its file system does not allow new folders' : reasonOfErrno(error)
}

function isIn(path: string, places: Places): boolean {
  return Object.values(places).some(
    (place) => path === place || path.startsWith(place + sep) || place.startsWith(path + sep),
  )
}
