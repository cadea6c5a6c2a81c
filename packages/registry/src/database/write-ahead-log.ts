import { type FileHandle, open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { unavailable } from '../errors.ts'

/** SQLite's write-ahead log, synced in another thread: SQLite itself blocks this one for as long as the disk takes. */
export interface WriteAheadLog {
  /** Resolves once everything committed before the call is on disk. Rejects if that is not certain. */
  sync(): Promise<void>
  /**
   * Call this before each write. After a failed sync, the system may have dropped pages of the log and report success
   * the next time, and everything behind such a hole would be lost. So the whole log is copied into the database first,
   * and is then overwritten. Until this succeeds, nothing is written.
   */
  settle(): void
  close(): Promise<void>
}

type Sync = (file: FileHandle) => Promise<void>

export function openWriteAheadLog(
  database: DatabaseSync,
  syncFile: Sync = (file) => file.datasync(),
): WriteAheadLog {
  /** SQLite keeps using the same file until its last connection is closed. */
  let opening: Promise<FileHandle> | undefined
  let isInDoubt = false

  function openFile(): Promise<FileHandle> {
    opening ??= open(`${database.location()}-wal`, 'r+').catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    async sync() {
      try {
        await syncFile(await openFile())
      } catch (error) {
        isInDoubt = true
        const problem = unavailable('the disk with the database failed', { retryAfterSeconds: 5 })
        throw Object.assign(problem, { cause: error })
      }
    },

    settle() {
      if (!isInDoubt || database.isTransaction) return
      const { busy } = database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
      if (busy !== 0) {
        throw unavailable('the disk with the database failed earlier', { retryAfterSeconds: 5 })
      }
      isInDoubt = false
    },

    async close() {
      const file = await opening?.catch(() => undefined)
      opening = undefined
      await file?.close()
    },
  }
}
