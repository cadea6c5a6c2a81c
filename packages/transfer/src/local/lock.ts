/**
 * One process at a time works on a file. The lock is SQLite's, since Node offers none of the system's own: it ends
 * with its process, however that dies, so it cannot be stale, and it holds between containers that share a disk.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sleep } from '../sleep.ts'

const sqliteBusy = 5

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
  mkdirSync(dirname(lockPath), { recursive: true })
  const database = new DatabaseSync(lockPath, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return () => database.close()
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw error
  }
}
