import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Connection } from '../../database/connect.ts'
import { isStorageFull } from '../../unavailable.ts'
import { addDownloads } from './add-downloads.ts'
import type { DownloadJournal } from './download-journal.ts'
import type { DownloadOrder } from './download-order.ts'

export interface DownloadCounter {
  /**
   * Counts one download. Resolves after the count has been written to disk. Rejects if the download was not counted, or
   * if it is unknown whether it was.
   */
  count(modelId: string): Promise<void>
}

type Dependencies = {
  connection: Pick<Connection, 'engine' | 'writeUnsynced' | 'sync'>
  journal: Pick<DownloadJournal, 'append'>
  order: Pick<DownloadOrder, 'follow'>
}

/**
 * Counts downloads exactly and durably. Each commit costs a disk write, so all calls that arrive during one commit are
 * batched into the next commit, and resolve after it. If the database rejects a batch because its disk is full, the
 * batch is counted in the journal instead. After any other error, such as a connection that breaks during the commit or
 * a commit that cannot be synced, the database may have counted the batch, so the batch is not added to the journal and
 * its calls reject.
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
        current = next.catch(() => undefined) // the callers of `count` receive the error
      }
      return next
    },
  }
}
