import { join } from 'node:path'
import { makeFolder } from '@shoal/files'
import { tryLock } from '@shoal/files/lock'
import { ConfigError } from '../errors.ts'

/**
 * Locks the data folder for this process, and returns a function that unlocks it. The operating system releases the
 * lock no matter how the process ends.
 * @throws `ConfigError` if another registry uses the folder, or if the folder cannot be locked
 */
export async function takeDataDirectory(path: string): Promise<() => void> {
  makeFolder(path, 0o750)
  const release = lockFolder(path)
  if (release !== undefined) return release
  throw new ConfigError(
    `another registry is running with the data folder ${path}: stop that registry, or pass another folder with --data`,
  )
}

function lockFolder(path: string): (() => void) | undefined {
  const file = join(path, 'lock')
  try {
    return tryLock(file)
  } catch (error) {
    const { message } = error as Error
    const why = message.startsWith(file) ? message : `${file} cannot be locked: ${message}`
    throw new ConfigError(`the data folder cannot be used, because ${why}`, { cause: error })
  }
}
