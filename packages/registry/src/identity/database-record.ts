/**
 * Records in a data folder's `database.json` which database the folder belongs to, but not the database's password. If
 * it is a PostgreSQL database, the registry refuses to start without `DATABASE_URL`, instead of creating an empty
 * SQLite database for a store that belongs to the PostgreSQL database.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing, replaceFile } from '@shoal/files'
import pg from 'pg'
import { ConfigError } from '../errors.ts'

export type DatabaseRecord =
  | { engine: 'sqlite' }
  | { engine: 'postgres'; host: string; port: number; database: string }

/** The database that these settings specify. */
export function toDatabaseRecord({
  databaseUrl,
}: {
  databaseUrl: string | undefined
}): DatabaseRecord {
  if (databaseUrl === undefined) return { engine: 'sqlite' }
  const { host, port, database = '' } = new pg.Client({ connectionString: databaseUrl })
  return { engine: 'postgres', host, port, database }
}

/** The name of the database for error messages. */
export function describeDatabase(record: DatabaseRecord): string {
  if (record.engine === 'sqlite') return 'the SQLite database registry.sqlite'
  return `the PostgreSQL database "${record.database}" on ${record.host}:${record.port}`
}

export function isSameDatabase(one: DatabaseRecord, other: DatabaseRecord): boolean {
  return describeDatabase(one) === describeDatabase(other)
}

/**
 * Returns the database last used with this data folder, or undefined if the folder is new or only version 0.1 has used
 * it. Throws a `ConfigError` if `database.json` is damaged.
 */
export async function readDatabaseRecord(
  dataDirectory: string,
): Promise<DatabaseRecord | undefined> {
  const path = recordPath(dataDirectory)
  const text = await readFile(path, 'utf8').catch(ignoreMissing)
  if (text === undefined) return undefined
  const record = parseRecord(text)
  if (record) return record
  throw new ConfigError(
    `${path} is damaged: it should specify this folder's database, for example ` +
      '{"engine": "sqlite"} or {"engine": "postgres", "host": "…", "port": 5432, "database": "…"}',
  )
}

export async function writeDatabaseRecord(
  dataDirectory: string,
  record: DatabaseRecord,
): Promise<void> {
  const text = `${JSON.stringify(record, null, 2)}\n`
  await replaceFile(recordPath(dataDirectory), text, { mode: 0o640 })
}

const recordPath = (dataDirectory: string) => join(dataDirectory, 'database.json')

function parseRecord(text: string): DatabaseRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { engine, host, port, database } = value as Record<string, unknown>
  if (engine === 'sqlite') return { engine }
  const isComplete =
    typeof host === 'string' && typeof port === 'number' && typeof database === 'string'
  return engine === 'postgres' && isComplete ? { engine, host, port, database } : undefined
}
