import { Kysely } from 'kysely'
import { type Ballast, openBallast } from './ballast.ts'
import { noChangeFeed, openChangeFeed } from './change-feed.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import type { ReaderConfig } from './reader.ts'
import type { Database } from './schema.ts'
import { checkSqliteFeatures, openSqlite, sqliteDialect, sqlitePath } from './sqlite.ts'

/**
 * Space for the files that SQLite creates next to the database when opening it: the write-ahead log and the log's
 * index.
 */
const openingBytes = 256 * 1024

/** An open database, with members for everything that differs between SQLite and PostgreSQL. */
export type Connection = {
  /** For requests and short jobs: a statement fails if it takes too long, or if the server does not respond. */
  db: Kysely<Database>
  /** For migrations, and for jobs that read entire tables: a statement may take any length of time. */
  unboundedDb: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  /** The settings with which another thread opens its own connection to read the database. */
  reader: ReaderConfig
  /**
   * Returns a value that changes with every write by any node, or undefined while writes by other nodes may go
   * unnoticed.
   */
  version(): string | undefined
  /** Like `version`, but does not change when downloads are counted (`writeUnsynced`). */
  versionWithoutCounts(): string | undefined
  /** Resolves once all other nodes have noticed every earlier commit. This takes three seconds at most. */
  untilNoticed(): Promise<void>
  /** Calls `listener` whenever the status of a file has changed, on any node. Does nothing with SQLite. */
  onFileChange(listener: () => void): void
  /**
   * Runs short transactions that change only download counts. Until the next `sync`, they may be lost in a power
   * failure.
   */
  writeUnsynced<T>(write: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /**
   * Resolves when everything committed before the call is on disk, and rejects if that is not certain. Does not block
   * the thread.
   */
  sync(): Promise<void>
  /**
   * Makes room for commits on a full disk (SQLite). Undefined for PostgreSQL, because the server manages its own disk.
   */
  ballast: Ballast | undefined
  close(): Promise<void>
}

export type DatabaseConfig = {
  /**
   * The URL of a PostgreSQL database, such as `postgres://user:password@host/name`. If undefined, an SQLite database in
   * the data folder is used.
   */
  databaseUrl: string | undefined
  /** Whether to listen for notifications about the writes of other nodes (PostgreSQL). */
  followsChanges?: boolean
  /** The URL to connect to for notifications, if `databaseUrl` points to a pooler that does not forward them. */
  databaseListenUrl?: string | undefined
  /** Maximum number of connections (PostgreSQL); undefined for the default. */
  databasePool?: number | undefined
  dataDirectory: string
  /** Maximum duration of each statement executed through `db` (PostgreSQL); undefined for no limit. */
  statementTimeoutMs?: number
  /** Size of the ballast in bytes; undefined for the default. */
  ballastBytes?: number | undefined
  /**
   * Called when a connection breaks, whether it is in use or idle. The pool replaces the connection; a statement that
   * was using it fails with its own error.
   */
  onConnectionLost: (error: Error) => void
  /** Called after a migration, if nodes of earlier versions can no longer use the database. */
  onOlderExcluded?: () => void
}

/** Opens the database and migrates its tables. */
export async function connect(config: DatabaseConfig): Promise<Connection> {
  const { databaseUrl: connectionString } = config
  const connection = connectionString
    ? connectPostgres({ ...config, connectionString })
    : connectSqlite(config)
  try {
    const { unboundedDb: db, engine, ballast } = connection
    const { onOlderExcluded } = config
    await migrate({ db, engine, freeBytes: ballast?.roomBytes, onOlderExcluded })
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

function connectSqlite(config: DatabaseConfig): Connection {
  const { dataDirectory, ballastBytes } = config
  checkSqliteFeatures()
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
    untilNoticed: async () => undefined,
    onFileChange: () => undefined,
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
  const { connectionString, databaseListenUrl, databasePool, onConnectionLost } = options
  const listenUrl = databaseListenUrl ?? connectionString
  const changes = options.followsChanges
    ? openChangeFeed({ connectionString: listenUrl, onConnectionLost })
    : noChangeFeed
  const opened = openPostgres({
    ...options,
    ...(databasePool && { maxConnections: databasePool }),
    onWrite: changes.noteWrite,
    onCount: changes.noteCounts,
  })
  return {
    ...opened,
    engine: 'postgres',
    reader: toReader(options),
    version: changes.version,
    versionWithoutCounts: changes.versionWithoutCounts,
    untilNoticed: changes.untilNoticed,
    onFileChange: changes.onFileChange,
    writeUnsynced: (write) => write(opened.countingDb),
    sync: async () => undefined, // each commit is synced by the server
    ballast: undefined,
    async close() {
      await Promise.all([opened.close(), changes.close()])
    },
  }
}

function toReader({
  databaseUrl,
  dataDirectory,
  statementTimeoutMs,
}: DatabaseConfig): ReaderConfig {
  return { databaseUrl, dataDirectory, statementTimeoutMs }
}
