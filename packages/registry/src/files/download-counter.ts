import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/schema.ts'

export type DownloadCounter = ReturnType<typeof downloadCounter>

/**
 * Counts downloads exactly and durably. A commit costs a write to the disk, so calls that come while one is under way share the
 * next; each is answered after its own has committed.
 */
export function downloadCounter(db: Kysely<Database>) {
  let waiting = new Map<string, number>()
  let next: Promise<void> | undefined
  let current: Promise<unknown> = Promise.resolve()

  async function commit() {
    await turnOfTheLoop() // SQLite answers at once: without this, nobody else would have come yet
    const counts = waiting
    waiting = new Map()
    next = undefined
    await db.transaction().execute(async (trx) => {
      // in the order of ids, so that two nodes never wait for each other
      for (const [modelId, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
        await trx
          .updateTable('model')
          .set({ downloads: sql`downloads + ${count}` })
          .where('id', '=', modelId)
          .execute()
      }
    })
  }

  return {
    /** Adds one. Resolves once that is on the disk, and rejects when it was not counted. */
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
