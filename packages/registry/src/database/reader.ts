import { Kysely } from 'kysely'
import { openPostgres } from './postgres.ts'
import type { Database } from './schema.ts'
import { readOnlySqliteDialect, sqlitePath } from './sqlite.ts'

/** The location of the tables, which must already have been migrated. */
export type ReaderConfig = {
  databaseUrl: string | undefined
  dataDirectory: string
  /** Maximum duration of each statement (PostgreSQL); undefined for no limit. */
  statementTimeoutMs: number | undefined
}

/** A separate connection for a thread that only reads. */
export type Reader = {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  close(): Promise<void>
}

export function openReader({
  databaseUrl,
  dataDirectory,
  statementTimeoutMs,
}: ReaderConfig): Reader {
  if (databaseUrl === undefined) {
    const db = new Kysely<Database>({ dialect: readOnlySqliteDialect(sqlitePath(dataDirectory)) })
    return { db, engine: 'sqlite', close: () => db.destroy() }
  }
  const { db, close } = openPostgres({
    connectionString: databaseUrl,
    maxConnections: 1,
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    onConnectionLost: () => undefined, // a statement that needs the connection fails with the error
  })
  return { db, engine: 'postgres', close }
}
