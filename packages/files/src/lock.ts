/**
 * Locks ensure that only one process at a time uses a file. Node has no file locks, so each lock is a lock on an SQLite
 * database. When a process ends for any reason, the operating system releases its locks, so no lock is ever stale.
 * Locks also work between containers that share a disk.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '@shoal/core/async'
import { makeFolder } from './make-folder.ts'

const sqliteBusy = 5
const sqliteIoError = 10
const sqliteCannotOpen = 14

/**
 * Maximum number of attempts to take a lock. An attempt may fail because another process is removing the model file,
 * which includes removing its lock file and empty folders.
 */
const maxAttempts = 20

type LockOptions = {
  signal?: AbortSignal | undefined
  /** How long to wait before each retry. Default: 200. */
  pollMs?: number
  /** Called before each retry while the lock is held elsewhere. */
  onWait?: () => void
}

/** Waits for the lock and returns a function that releases it. The empty file at `lockPath` is not deleted. */
export async function lockFile(
  lockPath: string,
  { signal, pollMs = 200, onWait }: LockOptions = {},
): Promise<() => void> {
  for (;;) {
    signal?.throwIfAborted()
    const release = tryLock(lockPath)
    if (release !== undefined) return release
    onWait?.()
    await sleep(pollMs, signal)
  }
}

/** Like `lockFile`, but does not wait: returns undefined if the lock is held elsewhere. */
export function tryLock(lockPath: string): (() => void) | undefined {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const taken = takeLock(lockPath)
      if (taken !== 'removed') return taken
    } catch (error) {
      if (attempt === maxAttempts || !isRemoved(error)) throw error
    }
  }
}

/**
 * Deletes the files of locks that this process holds, and then releases the locks, so that no process can take the lock
 * of a file that is about to disappear. Windows does not delete files that SQLite has open, so on Windows, the locks
 * are released first. If another process then takes one of the locks, the file of that lock is not deleted.
 */
export async function removeLocks(
  lockPaths: readonly string[],
  release: () => void,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const isReleasedFirst = platform === 'win32'
  if (isReleasedFirst) release()
  try {
    for (const path of lockPaths) {
      await rm(path, { force: true }).catch((error) => {
        if (!isReleasedFirst || (error.code !== 'EBUSY' && error.code !== 'EPERM')) throw error
      })
    }
  } finally {
    if (!isReleasedFirst) release()
  }
}

/**
 * Returns a function that releases the lock; undefined if the lock is held elsewhere; 'removed' if the lock file was
 * deleted or replaced in the meantime, in which case other processes would lock a different file.
 */
function takeLock(lockPath: string): (() => void) | 'removed' | undefined {
  makeFolder(dirname(lockPath))
  closeSync(openSync(lockPath, 'a'))
  const before = readIdentity(lockPath)
  const database = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY') // otherwise, a lock would need disk space
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw error
  }
  if (before !== undefined && before === readIdentity(lockPath)) return () => database.close()
  database.close()
  return 'removed'
}

function readIdentity(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

function isRemoved(error: unknown): boolean {
  const { code, errcode = 0 } = error as { code?: string; errcode?: number }
  return code === 'ENOENT' || [sqliteIoError, sqliteCannotOpen].includes(errcode & 0xff)
}
