import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'

const preparedAtMost = 500

/**
 * Kysely's SQLite dialect on Node's own `node:sqlite`: nothing to install or to build.
 * Writes are durable when they return (WAL with `synchronous = full`).
 */
export function sqliteDialect(database: DatabaseSync) {
  return new SqliteDialect({ database: asKyselyDatabase(database) })
}

/** Opens a database file, made when it is not there. */
export function openSqlite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  database.exec('pragma temp_store = memory')
  database.exec('pragma cache_size = -65536') // KiB
  database.exec('pragma mmap_size = 268435456') // bytes
  return database
}

function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>()

  return {
    close: () => database.close(),
    prepare(sql) {
      const known = prepared.get(sql)
      if (known) return known
      const statement = asKyselyStatement(database.prepare(sql))
      prepared.set(sql, statement)
      if (prepared.size > preparedAtMost) prepared.delete(prepared.keys().next().value ?? '')
      return statement
    },
  }
}

function asKyselyStatement(statement: StatementSync): SqliteStatement {
  const values = (parameters: ReadonlyArray<unknown>) => parameters as SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)) as IterableIterator<unknown>,
  }
}
