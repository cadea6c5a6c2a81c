import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { createSecretFile } from '@shoal/files/secret'
import { SqliteAdapter, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import { LRUCache } from 'lru-cache'
import { ConfigError } from '../errors.ts'
import type { Ballast } from './ballast.ts'
import { roomForWrites } from './room-for-writes.ts'
import { openWriteAheadLog } from './write-ahead-log.ts'

/**
 * Maximum number of cached statements. There are many different statements, because the statement for listing models
 * depends on the filters and on the number of tags and words.
 */
const maxPreparedStatements = 500
/**
 * Maximum total number of characters in the cached statements. A prepared statement takes about ten times as much
 * memory as its text.
 */
const maxPreparedLength = 1_000_000
/**
 * Statements longer than this are not cached: they insert many rows, and the same number of rows rarely occurs twice.
 */
const maxStatementLength = 10_000
/**
 * How often to check for writes by other processes, which are rare: only `shoal admin` writes while a registry runs.
 */
const pollIntervalMs = 50

export const sqlitePath = (dataDirectory: string) => join(dataDirectory, 'registry.sqlite')

/**
 * shoal runs on Node 22.13 and newer, but Node's SQLite includes full-text search only in Node 22.16 and newer.
 * @throws ConfigError on an older Node
 */
export function checkSqliteFeatures(): void {
  if ('location' in DatabaseSync.prototype) return // `location` and full-text search were added in the same version
  throw new ConfigError(
    `SQLite in Node ${process.versions.node} lacks full-text search: run the registry on Node 22.16 or newer, or set DATABASE_URL to use PostgreSQL`,
  )
}

/**
 * Opens a database file, or creates it, readable only by its owner because it contains secrets. SQLite gives the same
 * permissions to the write-ahead log and its index. A write is durable when its call returns (WAL with
 * `synchronous = full`).
 */
export function openSqlite(path: string): DatabaseSync {
  createSecretFile(path)
  const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  database.exec('pragma temp_store = memory')
  database.exec('pragma cache_size = -65536') // KiB
  database.exec('pragma mmap_size = 268435456') // bytes
  return database
}

/**
 * Kysely's SQLite dialect, based on Node's built-in `node:sqlite`, so that nothing needs to be installed or built. The
 * ballast makes room for commits.
 */
export function sqliteDialect(
  database: DatabaseSync,
  ballast: Ballast,
  log = openWriteAheadLog(database),
) {
  const room = roomForWrites(database, ballast)
  const settled =
    (perform: typeof atOnce): typeof atOnce =>
    (run) => {
      log.settle()
      return perform(run)
    }
  const performers: Record<string, typeof atOnce> = {
    begin: settled(room.begin),
    commit: room.commit,
  }
  const write = settled(room.write)
  let writes = 0
  let unsyncedWrites = 0
  let isUnsynced = false
  const prepared = new LRUCache<string, SqliteStatement>({
    max: maxPreparedStatements,
    maxSize: maxPreparedLength,
    maxEntrySize: maxStatementLength,
    sizeCalculation: (_statement, sql) => sql.length,
  })
  const dataVersion = database.prepare('pragma data_version')
  dataVersion.setReturnArrays(true)
  let writesOfOthers = ''
  let polledAt = Number.NEGATIVE_INFINITY

  /**
   * Returns a value that changes immediately with every synced write by this process, and up to `pollIntervalMs` later
   * with writes by other processes.
   */
  function versionWithoutCounts(): string {
    const now = performance.now()
    if (now - polledAt > pollIntervalMs) {
      polledAt = now
      writesOfOthers = String(dataVersion.get())
    }
    return `${writes}.${writesOfOthers}`
  }

  const kyselyDatabase: SqliteDatabase = {
    close: () => database.close(),
    prepare(sql) {
      if (sql === 'begin') rollBack(database) // in case an earlier rollback failed
      if (sql === 'rollback') return { ...noRows, run: () => rollBackQuietly(database) }
      const known = prepared.get(sql)
      if (known) return known
      const isWrite = /^\s*(insert|update|delete|replace)/i.test(sql)
      const onRun = (changes: number | bigint) => {
        if (!isWrite || changes <= 0) return
        if (isUnsynced) unsyncedWrites += 1
        else writes += 1
      }
      const perform = performers[sql] ?? (isWrite ? write : atOnce)
      const statement = asKyselyStatement(database.prepare(sql), { onRun, perform })
      prepared.set(sql, statement)
      return statement
    },
  }

  return {
    dialect: new TransactionalSqliteDialect({ database: kyselyDatabase }),
    /** Changes with every write. */
    version: () => `${versionWithoutCounts()}.${unsyncedWrites}`,
    versionWithoutCounts,
    log,
    /**
     * Runs transactions that may not be on disk until the next sync. While `act` is running, nothing else may use the
     * connection. The pragma is executed directly and is never a prepared statement, because it takes effect when it is
     * compiled.
     */
    async withoutSync<T>(act: () => Promise<T>): Promise<T> {
      rollBack(database) // in case an earlier rollback failed: the pragma cannot be changed in a transaction
      database.exec('pragma synchronous = normal')
      isUnsynced = true
      try {
        return await act()
      } finally {
        isUnsynced = false
        rollBackQuietly(database)
        database.exec('pragma synchronous = full')
      }
    },
  }
}

/** Opens a read-only connection for another thread. */
export function readOnlySqliteDialect(path: string): SqliteDialect {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  database.exec('pragma mmap_size = 268435456') // bytes
  const prepare = (sql: string) =>
    asKyselyStatement(database.prepare(sql), { onRun: () => undefined, perform: atOnce })
  return new SqliteDialect({ database: { close: () => database.close(), prepare } })
}

/**
 * Kysely assumes that schema changes in SQLite are not transactional. They are, so a migration that is killed leaves no
 * changes behind.
 */
class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter() {
    return new TransactionalSqliteAdapter()
  }
}

class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

const noRows = { reader: false, all: () => [], iterate: () => [].values() }

function rollBack(database: DatabaseSync) {
  if (database.isTransaction) database.exec('rollback')
}

/**
 * Rolls back the transaction. Never throws, because the caller must receive the error that made the transaction fail.
 * If the disk is full or a write fails, SQLite may already have rolled back by itself. Another rollback would then fail
 * with "cannot rollback", which would hide the first error (https://www.sqlite.org/lang_transaction.html).
 */
function rollBackQuietly(database: DatabaseSync) {
  try {
    rollBack(database)
  } catch {
    // The next transaction tries to roll back again before it begins, and reports an error if that fails.
  }
  return { changes: 0, lastInsertRowid: 0 }
}

const atOnce = <T>(run: () => T): T => run()

type Running = {
  /** Called with the number of rows that a statement returned or changed, or with 1 if the statement is iterated. */
  onRun: (rows: number | bigint) => void
  perform: typeof atOnce
}

function asKyselyStatement(statement: StatementSync, { onRun, perform }: Running): SqliteStatement {
  const values = (parameters: ReadonlyArray<unknown>) => parameters as SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all(parameters) {
      const rows = perform(() => statement.all(...values(parameters)))
      onRun(rows.length)
      return rows
    },
    run(parameters) {
      const result = perform(() => statement.run(...values(parameters)))
      onRun(result.changes)
      return result
    },
    iterate(parameters) {
      onRun(1)
      return statement.iterate(...values(parameters)) as IterableIterator<unknown>
    },
  }
}
