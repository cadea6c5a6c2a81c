/**
 * One process at a time works on a file. The lock is SQLite's, since Node offers none of the system's own: it ends
 * with its process, however that dies, so it cannot be stale, and it holds between containers that share a disk.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '@shoal/core/async'
import { makeFolder } from '@shoal/log/folder'

const sqliteBusy = 5
const sqliteIoError = 10
const sqliteCannotOpen = 14

/** Whoever removes a file removes its lock and the empty folders as well: then it is tried again. */
const maxAttempts = 20

type LockOptions = {
  signal?: AbortSignal | undefined
  /** Called before each new attempt while another holds the lock. */
  onWait?: () => void
}

/** Waits for the lock; answers how to give it back. The empty file at `lockPath` stays. */
export async function lockFile(
  lockPath: string,
  { signal, onWait }: LockOptions = {},
): Promise<() => void> {
  for (;;) {
    signal?.throwIfAborted()
    const release = tryLock(lockPath)
    if (release !== undefined) return release
    onWait?.()
    await sleep(200, signal)
  }
}

/** As `lockFile`, but answers undefined where another holds the lock. */
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

/** 'removed' where the file that is locked now is no longer the one that others would find. */
function takeLock(lockPath: string): (() => void) | 'removed' | undefined {
  makeFolder(dirname(lockPath))
  closeSync(openSync(lockPath, 'a'))
  const before = readIdentity(lockPath)
  const database = new DatabaseSync(lockPath, { timeout: 0 })
  try {
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
