import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type FullText, postgresFullText, sqliteFullText } from './full-text.ts'
import { migrate } from './migrate.ts'
import type { Database } from './schema.ts'
import { openSqlite, sqliteDialect } from './sqlite.ts'

/** The database with what differs between the engines. */
export type Connection = {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  fullText: FullText
  /** Changes with every write, where one process sees them all; undefined on a database that nodes share. */
  version: (() => string) | undefined
  close(): Promise<void>
}

export type DatabaseConfig = {
  /** PostgreSQL, as in `postgres://user:password@host/name`; SQLite in the data directory without one. */
  databaseUrl: string | undefined
  dataDirectory: string
  /** Told when an idle connection breaks; the pool replaces it. */
  onConnectionLost: (error: Error) => void
}

/** Opens the database and brings its tables up to date. */
export async function connect(config: DatabaseConfig): Promise<Connection> {
  const connection = config.databaseUrl
    ? connectPostgres(config.databaseUrl, config.onConnectionLost)
    : connectSqlite(sqlitePath(config.dataDirectory))
  try {
    await migrate(connection)
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

export const sqlitePath = (dataDirectory: string) => join(dataDirectory, 'registry.sqlite')

function connectSqlite(path: string): Connection {
  const { dialect, version } = sqliteDialect(openSqlite(path))
  const db = new Kysely<Database>({ dialect })
  return { db, engine: 'sqlite', fullText: sqliteFullText, version, close: () => db.destroy() }
}

function connectPostgres(
  connectionString: string,
  onConnectionLost: (error: Error) => void,
): Connection {
  const pool = new pg.Pool({
    connectionString,
    max: 10,
    connectionTimeoutMillis: 5_000,
    // a misspelt word of four letters shares less than the default 0.3 with the right one
    options: '-c pg_trgm.similarity_threshold=0.2',
    types: { getTypeParser: typeParser },
  })
  pool.on('error', onConnectionLost)
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    engine: 'postgres',
    fullText: postgresFullText,
    version: undefined,
    close: () => db.destroy(),
  }
}

/** 64-bit integers as numbers: every one that we store is below 2^53. */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')
