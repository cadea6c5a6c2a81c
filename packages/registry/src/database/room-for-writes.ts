import type { DatabaseSync } from 'node:sqlite'
import { isStorageFull } from '../unavailable.ts'
import type { Ballast } from './ballast.ts'

/** Runs what writes to a SQLite database, so that it finds room on the disk if the ballast can make any. */
export function roomForWrites(database: DatabaseSync, ballast: Ballast) {
  function checkpoint() {
    try {
      database.exec('pragma wal_checkpoint(passive)')
    } catch (error) {
      if (!(error instanceof Error && isStorageFull(error))) throw error // the log keeps what does not fit elsewhere
    }
  }

  /** On a nearly full disk each commit is copied out of the log at once, so that the next one writes over it and needs no more. */
  function commit<T>(run: () => T): T {
    const isTight = ballast.makeRoom()
    const result = run()
    if (isTight) checkpoint()
    return result
  }

  return {
    /** A `commit`. SQLite rolls back when it fails, so that it cannot be tried again; the next one will have the room. */
    commit<T>(run: () => T): T {
      try {
        return commit(run)
      } catch (error) {
        if (error instanceof Error && isStorageFull(error)) ballast.release()
        throw error
      }
    },

    /** A statement. Within a transaction it needs no room yet. */
    write<T>(run: () => T): T {
      if (database.isTransaction) return run()
      try {
        return commit(run)
      } catch (error) {
        if (error instanceof Error && isStorageFull(error) && ballast.release()) return run()
        throw error
      }
    },
  }
}
