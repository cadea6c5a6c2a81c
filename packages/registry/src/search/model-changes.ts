/**
 * Finds the models that have changed since the last read. Database triggers write one row per model into
 * `model_change`, so that code that changes a model does not have to record the change.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/schema.ts'

export type ModelChange = {
  seq: number
  /** Whether more than the model's counts and sizes changed. If so, the model was deleted or must be indexed again. */
  isText: boolean
}

/**
 * Calls `apply` with the changes since the last successful call. The first call only records the current position,
 * without calling `apply`.
 */
export type FollowChanges = (apply: (changes: ModelChange[]) => Promise<void>) => Promise<void>

/** In SQLite, `change` is a counter, and transactions commit in the order of its values. */
export function followSqlite(db: Kysely<Database>): FollowChanges {
  let last: number | undefined
  return async (apply) => {
    if (last === undefined) {
      const { rows } = await sql<{ last: number | null }>`
        select max(change) as last from model_change`.execute(db)
      last = rows[0]?.last ?? 0
      return
    }
    const since = last
    const { rows } = await sql<{ model_seq: number; change: number; text_change: number }>`
      select model_seq, change, text_change from model_change
      where change > ${since} order by change`.execute(db)
    await apply(rows.map((row) => ({ seq: row.model_seq, isText: row.text_change > since })))
    last = rows.at(-1)?.change ?? since
  }
}

type Change = { model_seq: number; change: string; text_change: string }

/**
 * In PostgreSQL, `change` is a transaction ID, and transactions may commit in any order. Only transactions with lower
 * IDs than the oldest running transaction are certain to have ended. Therefore, the changes of all later transactions
 * are read again by the next call, which skips those that have been applied. Rows with transaction IDs that the server
 * has not assigned yet are ignored. They were written before the database was restored into a new server, and are older
 * than the index.
 */
export function followPostgres(db: Kysely<Database>): FollowChanges {
  let oldestRunning: string | undefined
  let applied = new Map<number, Change>()
  return async (apply) => {
    const since = oldestRunning
    const { rows } = await sql<{ oldest_running: string } & (Change | { model_seq: null })>`
      with snapshot as (
        select pg_snapshot_xmin(current) as oldest_running, pg_snapshot_xmax(current) as next
        from pg_current_snapshot() as current
      )
      select oldest_running::text, model_seq, change::text, text_change::text
      from snapshot left join model_change
        on change >= ${since ?? null}::xid8 and change < next`.execute(db)
    if (since !== undefined) {
      const found = rows.filter((row) => row.model_seq !== null)
      const isNew = (row: Change) => applied.get(row.model_seq)?.change !== row.change
      const isText = ({ model_seq, text_change }: Change) =>
        BigInt(text_change) >= BigInt(since) && applied.get(model_seq)?.text_change !== text_change
      await apply(found.filter(isNew).map((row) => ({ seq: row.model_seq, isText: isText(row) })))
      applied = new Map(found.map((row) => [row.model_seq, row]))
    }
    oldestRunning = rows[0]?.oldest_running
  }
}
