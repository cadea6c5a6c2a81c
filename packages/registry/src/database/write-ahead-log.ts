import { type FileHandle, open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { unavailable } from '../errors.ts'

/**
 * SQLite's write-ahead log, synced in another thread, because SQLite's own sync blocks this thread until the disk has
 * finished.
 */
export interface WriteAheadLog {
  /** Resolves when everything committed before the call is on disk. Rejects if that is not certain. */
  sync(): Promise<void>
  /**
   * Must be called before each write. After a failed sync, the operating system may have dropped pages of the log, and
   * may still report success for the next sync; everything in the log after a missing page would then be lost.
   * Therefore the entire log is copied into the database and truncated before anything else is written. Until this
   * succeeds, writes fail.
   */
  settle(): void
  close(): Promise<void>
}

type Sync = (file: FileHandle) => Promise<void>

export function openWriteAheadLog(
  database: DatabaseSync,
  syncFile: Sync = (file) => file.datasync(),
): WriteAheadLog {
  /** The open log file. SQLite uses the same file until the last connection to the database is closed. */
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
        const problem = unavailable("the database's disk failed", { retryAfterSeconds: 5 })
        throw Object.assign(problem, { cause: error })
      }
    },

    settle() {
      if (!isInDoubt || database.isTransaction) return
      const { busy } = database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
      if (busy !== 0) {
        throw unavailable('the database has not recovered from an earlier failure of its disk', {
          retryAfterSeconds: 5,
        })
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
