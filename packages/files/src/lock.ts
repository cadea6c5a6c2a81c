/**
 * Locks ensure that only one process at a time uses a file. Node has no file locks, so each lock is a lock on an SQLite
 * database. When a process ends for any reason, the operating system releases its locks, so no lock is ever stale.
 * Locks also work between containers that share a disk. On a file system that has no locks, such as some network disks,
 * a lock is a file that exists while the lock is held, and whose modification time its holder keeps fresh.
 */
import {
  closeSync,
  constants,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '@shoal/core/async'
import { isErrno } from './errno.ts'
import { makeFolder } from './make-folder.ts'
import { unfinishedPath } from './write-whole.ts'

const sqliteBusy = 5
const sqliteIoError = 10
const sqliteCannotOpen = 14
/** SQLITE_IOERR_UNLOCK, _RDLOCK, _CHECKRESERVEDLOCK and _LOCK: the file system has no locks. */
const sqliteLockErrors = [2058, 2314, 3594, 3850]

/**
 * Maximum number of attempts to take a lock. An attempt may fail because another process is removing the model file,
 * which includes removing its lock file and empty folders.
 */
const maxAttempts = 20

/** Where there are no locks: how often the holder refreshes its file, and when the file of a killed process is stale. */
const refreshMs = 5_000
const staleMs = 60_000

export type LockOptions = {
  signal?: AbortSignal | undefined
  /** How long to wait before each retry. Default: 200. */
  pollMs?: number
  /** Called before each retry while the lock is held elsewhere. */
  onWait?: () => void
  /** Replaces the lock of the system in tests. */
  lockDatabase?: LockDatabase
}

/** Takes the system's lock, and returns a function that releases it. Throws SQLite's error. */
type LockDatabase = (lockPath: string) => () => void

/** Waits for the lock and returns a function that releases it. The empty file at `lockPath` is not deleted. */
export async function lockFile(
  lockPath: string,
  { signal, pollMs = 200, onWait, lockDatabase }: LockOptions = {},
): Promise<() => void> {
  for (;;) {
    signal?.throwIfAborted()
    const release = tryLock(lockPath, lockDatabase)
    if (release !== undefined) return release
    onWait?.()
    await sleep(pollMs, signal)
  }
}

/** Like `lockFile`, but does not wait: returns undefined if the lock is held elsewhere. */
export function tryLock(
  lockPath: string,
  lockDatabase: LockDatabase = lockExclusively,
): (() => void) | undefined {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const taken = takeLock(lockPath, lockDatabase)
      if (taken !== 'removed') return taken
    } catch (error) {
      const isLast = attempt === maxAttempts
      if (isLast || !isRemoved(error)) throw withPath(error, lockPath)
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

/** The file that stands for a lock on a file system without locks. It exists while the lock is held. */
export const heldPath = (lockPath: string) => `${lockPath}.held`

/**
 * Returns a function that releases the lock; undefined if the lock is held elsewhere; 'removed' if the lock file was
 * deleted or replaced in the meantime, in which case other processes would lock a different file.
 */
function takeLock(
  lockPath: string,
  lockDatabase: LockDatabase,
): (() => void) | 'removed' | undefined {
  makeFolder(dirname(lockPath))
  touch(lockPath)
  const before = readIdentity(lockPath)
  let release: () => void
  try {
    release = lockDatabase(lockPath)
  } catch (error) {
    if (isBusy(error) && canLock(lockPath, lockDatabase)) return undefined
    if (isBusy(error) || isLockless(error)) return takeHeldFile(lockPath)
    throw error
  }
  if (before !== undefined && before === readIdentity(lockPath)) return release
  release()
  return 'removed'
}

/** Creates an empty file. Does not wait if there is a pipe instead. Windows has no such flag. */
function touch(path: string) {
  const { O_APPEND, O_CREAT, O_NONBLOCK = 0, O_WRONLY } = constants
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK))
}

function lockExclusively(lockPath: string): () => void {
  const database = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY') // otherwise, a lock would need disk space
    database.exec('BEGIN EXCLUSIVE')
    return () => database.close()
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Whether the file system has locks. SQLite also says that a lock is held elsewhere if there are none (`ENOLCK`), but
 * nobody else can hold the lock of a new file.
 */
function canLock(lockPath: string, lockDatabase: LockDatabase): boolean {
  const probe = unfinishedPath(lockPath)
  try {
    lockDatabase(probe)()
    return true
  } catch (error) {
    if (isBusy(error) || isLockless(error)) return false
    throw error
  } finally {
    rmSync(probe, { force: true })
  }
}

function takeHeldFile(lockPath: string): (() => void) | undefined {
  const path = heldPath(lockPath)
  try {
    closeSync(openSync(path, 'wx'))
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    return removeStale(path) ? takeHeldFile(lockPath) : undefined
  }
  const own = readIdentity(path)
  // Writing, unlike setting a time, uses the clock of the file system. If it fails, the lock becomes stale.
  const refresh = setInterval(() => {
    if (own === readIdentity(path)) writeFile(path, '\n', { flag: 'r+' }).catch(() => undefined)
  }, refreshMs)
  refresh.unref()
  return () => {
    clearInterval(refresh)
    if (own === readIdentity(path)) rmSync(path, { force: true })
  }
}

/** Removes the file of a lock whose holder no longer refreshes it. Returns whether the lock can now be taken. */
function removeStale(path: string): boolean {
  const [now, aside] = [unfinishedPath(path), unfinishedPath(path)]
  writeFileSync(now, '') // its time is that of the file system, whose clock may differ from ours
  const isStale = (one: string) => statSync(now).mtimeMs - statSync(one).mtimeMs > staleMs
  try {
    if (!isStale(path)) return false
    renameSync(path, aside)
    if (isStale(aside)) return true
    renameSync(aside, path) // another process has just removed the stale file, and taken the lock
    return false
  } finally {
    for (const one of [now, aside]) rmSync(one, { force: true })
  }
}

function readIdentity(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

const errcodeOf = (error: unknown) => (error as { errcode?: number }).errcode ?? 0

const isBusy = (error: unknown) => errcodeOf(error) === sqliteBusy
const isLockless = (error: unknown) => sqliteLockErrors.includes(errcodeOf(error))

function isRemoved(error: unknown): boolean {
  return (
    isErrno(error, 'ENOENT') || [sqliteIoError, sqliteCannotOpen].includes(errcodeOf(error) & 0xff)
  )
}

/** SQLite's errors contain no path. */
function withPath(error: unknown, lockPath: string): unknown {
  if (errcodeOf(error) === 0) return error
  const { message } = error as Error
  return new Error(`${lockPath} cannot be locked: ${message}`, { cause: error })
}
