import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Connection } from '../../database/connect.ts'
import { isStorageFull } from '../../unavailable.ts'
import { addDownloads } from './add-downloads.ts'
import type { DownloadJournal } from './download-journal.ts'
import type { DownloadOrder } from './download-order.ts'

export interface DownloadCounter {
  /** Adds one download. Resolves once it is on disk; rejects if it was not counted, or may not have been. */
  count(modelId: string): Promise<void>
}

type Dependencies = {
  connection: Pick<Connection, 'engine' | 'writeUnsynced' | 'sync'>
  journal: Pick<DownloadJournal, 'append'>
  order: Pick<DownloadOrder, 'follow'>
}

/**
 * Counts downloads exactly and durably. A commit costs a disk write, so calls that arrive during a commit share the
 * next one; each resolves after its own commit. While the database's disk is full, downloads are counted in the
 * journal, but only if the database certainly did not count them: if a connection breaks during the commit, or the
 * commit cannot be synced, they may have been counted.
 */
export function downloadCounter({ connection, journal, order }: Dependencies): DownloadCounter {
  const { engine, writeUnsynced, sync } = connection
  let waiting = new Map<string, number>()
  let next: Promise<void> | undefined
  let current: Promise<unknown> = Promise.resolve()

  async function commit() {
    await turnOfTheLoop() // so that other calls can join the batch
    const counts = waiting
    waiting = new Map()
    next = undefined
    try {
      await writeUnsynced((db) => addDownloads(db, engine, counts))
    } catch (error) {
      if (!(error instanceof Error && isStorageFull(error))) throw error
      return journal.append(counts)
    }
    order.follow(counts.keys())
    await sync()
  }

  return {
    count(modelId: string): Promise<void> {
      waiting.set(modelId, (waiting.get(modelId) ?? 0) + 1)
      if (!next) {
        next = current.then(commit)
        current = next.catch(() => undefined) // its callers get the error
      }
      return next
    },
  }
}
