import { Kysely } from 'kysely'
import { type Ballast, openBallast } from './ballast.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import type { ReaderConfig } from './reader.ts'
import type { Database } from './schema.ts'
import { openSqlite, sqliteDialect, sqlitePath } from './sqlite.ts'

/** Space for the files that SQLite creates next to the database as it opens it: its log and the index of that. */
const openingBytes = 256 * 1024

/** The database, with the differences between the engines. */
export type Connection = {
  /** For requests and short steps: a statement fails if it takes too long, or if the server never answers. */
  db: Kysely<Database>
  /** For migrations and for jobs that read whole tables: no limit on a statement's duration. */
  unboundedDb: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  /** For a thread that reads through a connection of its own. */
  reader: ReaderConfig
  /** Changes with every write, if a single process makes them all; undefined for a database that nodes share. */
  version: (() => string) | undefined
  /** Like `version`, but does not change with downloads (`writeUnsynced`). */
  versionWithoutCounts: (() => string) | undefined
  /**
   * Runs short transactions that change only download counts. They may be on disk only after the next `sync`,
   * and may be lost in a power failure before that.
   */
  writeUnsynced<T>(write: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /** Resolves once everything committed before is on disk, without blocking; rejects if that is not certain. */
  sync(): Promise<void>
  /** Makes room for commits on a full disk, if the database is on ours (SQLite). */
  ballast: Ballast | undefined
  close(): Promise<void>
}

export type DatabaseConfig = {
  /** PostgreSQL, as in `postgres://user:password@host/name`; if undefined, SQLite in the data directory. */
  databaseUrl: string | undefined
  dataDirectory: string
  /** Maximum duration of one statement of `db` (PostgreSQL); undefined for no limit. */
  statementTimeoutMs?: number
  /** Size of the ballast in bytes; undefined for the default. */
  ballastBytes?: number | undefined
  /**
   * Called when a connection breaks, in use or idle; the pool replaces it. The statement that was using it fails with
   * its own error.
   */
  onConnectionLost: (error: Error) => void
}

/** Opens the database and migrates its tables. */
export async function connect(config: DatabaseConfig): Promise<Connection> {
  const { databaseUrl: connectionString } = config
  const connection = connectionString
    ? connectPostgres({ ...config, connectionString })
    : connectSqlite(config)
  try {
    const { unboundedDb: db, engine, ballast } = connection
    await migrate({ db, engine, freeBytes: ballast?.roomBytes })
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

function connectSqlite(config: DatabaseConfig): Connection {
  const { dataDirectory, ballastBytes } = config
  const ballast = openBallast(dataDirectory, ballastBytes)
  ballast.makeRoom(openingBytes)
  const database = openSqlite(sqlitePath(dataDirectory))
  const { dialect, log, withoutSync, ...versions } = sqliteDialect(database, ballast)
  const db = new Kysely<Database>({ dialect })
  return {
    db,
    unboundedDb: db,
    engine: 'sqlite',
    reader: toReader(config),
    ...versions,
    writeUnsynced: (write) => db.connection().execute((one) => withoutSync(() => write(one))),
    sync: log.sync,
    ballast,
    async close() {
      await log.close()
      await db.destroy()
    },
  }
}

function connectPostgres(options: DatabaseConfig & { connectionString: string }): Connection {
  const opened = openPostgres(options)
  return {
    ...opened,
    engine: 'postgres',
    reader: toReader(options),
    version: undefined,
    versionWithoutCounts: undefined,
    writeUnsynced: (write) => write(opened.db),
    sync: async () => undefined, // each commit is synced by the server
    ballast: undefined,
  }
}

function toReader({
  databaseUrl,
  dataDirectory,
  statementTimeoutMs,
}: DatabaseConfig): ReaderConfig {
  return { databaseUrl, dataDirectory, statementTimeoutMs }
}
