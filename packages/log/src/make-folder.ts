import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and the missing ones above it. Throws the system's error where one cannot be made. Node's own
 * `recursive` never returns on a file system that takes no new folders, such as `/proc`.
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
    // Another process may have made it just now.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isThere(path)) throw error
  }
}
