import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isErrno } from './errno.ts'

/**
 * Creates a folder and its missing parents. Throws the system's error if a folder cannot be created. Does not use
 * Node's `recursive` option, which never returns on file systems that do not allow new folders, such as `/proc`.
 */
export function makeFolder(path: string, mode?: number): void {
  const missing: string[] = []
  for (let folder = resolve(path); !isThere(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.toReversed()) makeOne(folder, mode)
}

const isThere = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true || dirname(path) === path

function makeOne(path: string, mode: number | undefined) {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (!isErrno(error, 'EEXIST') || !isThere(path)) throw error
  }
}
