import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Connection } from '../../database/connect.ts'
import { isStorageFull } from '../../unavailable.ts'
import { addDownloads } from './add-downloads.ts'
import type { DownloadJournal } from './download-journal.ts'

export interface DownloadCounter {
  /** Adds one. Resolves once that is on the disk, and rejects when it was not counted. */
  count(modelId: string): Promise<void>
}

/**
 * Counts downloads exactly and durably. A commit costs a write to the disk, so calls that come while one is under way share the
 * next; each is answered after its own has committed. While the database's disk is full, the journal takes the counts. It does so
 * only when it is certain that the database did not: a connection that breaks during the commit may or may not have counted.
 */
export function downloadCounter(
  { db, engine }: Pick<Connection, 'db' | 'engine'>,
  journal: Pick<DownloadJournal, 'append'>,
): DownloadCounter {
  let waiting = new Map<string, number>()
  let next: Promise<void> | undefined
  let current: Promise<unknown> = Promise.resolve()

  async function commit() {
    await turnOfTheLoop() // SQLite answers at once: without this, nobody else would have come yet
    const counts = waiting
    waiting = new Map()
    next = undefined
    try {
      await addDownloads(db, engine, counts)
    } catch (error) {
      if (!(error instanceof Error && isStorageFull(error))) throw error
      await journal.append(counts)
    }
  }

  return {
    count(modelId: string): Promise<void> {
      waiting.set(modelId, (waiting.get(modelId) ?? 0) + 1)
      if (!next) {
        next = current.then(commit)
        current = next.catch(() => undefined) // those who wait for it are told
      }
      return next
    },
  }
}
