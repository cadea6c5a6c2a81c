import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'
import type { Database } from './schema.ts'

/**
 * Returns an SQL expression for the current time of the database's clock plus `offsetSeconds`, in the format that the
 * tables use (RFC 3339 with milliseconds, UTC). Used for all times in the tables: the nodes' own clocks may differ by
 * hours, but all nodes share the database's clock.
 */
export function databaseTime(db: Kysely<Database>, offsetSeconds = 0): RawBuilder<string> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    return sql`to_char((statement_timestamp() at time zone 'UTC') + make_interval(secs => ${offsetSeconds}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  }
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${offsetSeconds} seconds`})`
}
