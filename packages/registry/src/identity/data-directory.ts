import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '@shoal/files'
import { ConfigError } from '../errors.ts'

/**
 * Locks the data folder for this process, and returns a function that unlocks it. The lock is an SQLite lock on a
 * separate file, so the operating system releases it no matter how the process ends.
 * @throws `ConfigError` if another registry uses the folder, or if the lock's file cannot be written
 */
export async function takeDataDirectory(path: string): Promise<() => void> {
  makeFolder(path, 0o750)
  const file = join(path, 'lock')
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    lock.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    lock?.close()
    if (!(error instanceof Error && 'errcode' in error)) throw error
    const isLocked = error.errcode === 5
    throw new ConfigError(
      isLocked
        ? `another registry is running with the data folder ${path}: stop that registry, or pass another folder with --data`
        : `the data folder cannot be used, because ${file} cannot be locked: ${error.message}`,
      { cause: error },
    )
  }
  return () => lock.close()
}
