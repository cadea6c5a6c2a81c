import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@shoal/core/units'
import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { ConfigError } from '../errors.ts'
import { fillCacheBytes, fillMemory } from './fill-from-headers.ts'
import { fillReq2Hashes } from './req2-hash.ts'
import type { Database } from './schema.ts'

/** Steps that cannot be written in SQL, by migration name. A step runs after the migration's statements. */
const afterStatements: Record<string, (db: Kysely<Database>) => Promise<void>> = {
  '0002_torrent_lookup': fillReq2Hashes,
  '0003_memory': fillMemory,
  '0012_cache_bytes': fillCacheBytes,
}

/**
 * The space that SQLite's write-ahead log needs during a migration, as a share of the database's size: 1 if the rows of
 * all files are changed; otherwise, `usualLogShare`, which is four times the share measured with 100,000 models.
 */
const logShares: Record<string, number> = {
  '0002_torrent_lookup': 1,
  '0003_memory': 1,
  '0012_cache_bytes': 1,
}
const usualLogShare = 0.03
/** Free space in bytes that a migration requires at least, however small the database is. */
const minRoomBytes = 16_000_000

type Options = {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  /**
   * Returns the free space for the database in bytes; undefined if the space is unknown, as for a PostgreSQL server.
   */
  freeBytes?: (() => number) | undefined
  /** Called after a migration, if nodes of earlier versions can no longer use the database. */
  onOlderExcluded?: (() => void) | undefined
}

/**
 * Migrates the tables by executing each of the numbered SQL files once, in order, under Kysely's lock. A migration
 * cannot be reverted. Tables that a newer version has migrated are left unchanged if this version can still use them.
 * Throws a `ConfigError` if this version cannot use them, or if the disk has too little free space for the migration.
 *
 * So that nodes can be upgraded one by one, a migration must leave the database usable for the release before it: it
 * may add tables, and columns with defaults. Tables and columns that are no longer used are removed one release later,
 * in a migration that also updates `compatibility.oldest_migration`. Versions of shoal that do not include the
 * migration named there can no longer use the database.
 */
export async function migrate(options: Options): Promise<void> {
  const { db, engine, freeBytes, onOlderExcluded } = options
  const directory = join(import.meta.dirname, 'migrations', engine)
  const migrations = await readMigrations(directory)
  const applied = await readApplied(db, engine)
  const oldest = applied.length > 0 ? await readOldest(db, engine) : undefined
  const unknown = applied.find((name) => !(name in migrations))
  if (unknown !== undefined) {
    if (oldest !== undefined && oldest in migrations) return
    throw new ConfigError(
      `the database was migrated by a newer version of shoal (migration ${unknown}): update shoal, or restore a backup from before that migration`,
    )
  }
  if (freeBytes && applied.length > 0) {
    const pending = Object.keys(migrations).filter((name) => !applied.includes(name))
    await requireRoom(db, pending, freeBytes)
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
  if (applied.length > 0 && (await readOldest(db, engine)) !== oldest) onOlderExcluded?.()
}

/** Reads `compatibility.oldest_migration`; undefined for a database of version 0.1. */
async function readOldest(
  db: Kysely<Database>,
  engine: Options['engine'],
): Promise<string | undefined> {
  if (!(await hasTable(db, engine, 'compatibility'))) return undefined
  const { rows } = await sql<{ oldest: string }>`
    select oldest_migration as oldest from compatibility`.execute(db)
  return rows[0]?.oldest
}

async function hasTable(db: Kysely<Database>, engine: Options['engine'], name: string) {
  const table = sql.lit(name)
  const find = {
    sqlite: sql`select name from sqlite_master where type = 'table' and name = ${table}`,
    postgres: sql`select 1 where to_regclass(${table}) is not null`,
  }
  return (await find[engine].execute(db)).rows.length > 0
}

/** Reads the names of the applied migrations, newest first; empty for a new database. */
async function readApplied(db: Kysely<Database>, engine: Options['engine']): Promise<string[]> {
  if (!(await hasTable(db, engine, DEFAULT_MIGRATION_TABLE))) return []
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name desc`.execute(db)
  return rows.map(({ name }) => name)
}

async function requireRoom(db: Kysely<Database>, pending: string[], freeBytes: () => number) {
  if (pending.length === 0) return
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count, pragma_page_size`.execute(db)
  const share = Math.max(...pending.map((name) => logShares[name] ?? usualLogShare))
  const needed = Math.max(minRoomBytes, (rows[0]?.bytes ?? 0) * share)
  const free = freeBytes()
  if (free >= needed) return
  throw new ConfigError(
    `updating the database needs ${formatBytes(needed)} of free disk space, but only ${formatBytes(free)} is available: free some space and try again (nothing was changed)`,
  )
}

async function readMigrations(directory: string): Promise<Record<string, Migration>> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql'))
  const migrations = names.map(async (filename): Promise<[string, Migration]> => {
    const text = await readFile(join(directory, filename), 'utf8')
    const statements = text.split(/;\s*\n/).filter((statement) => statement.trim() !== '')
    const name = filename.replace(/\.sql$/, '')
    return [
      name,
      {
        async up(db) {
          for (const statement of statements) await sql.raw(statement).execute(db)
          await afterStatements[name]?.(db)
        },
      },
    ]
  })
  return Object.fromEntries(await Promise.all(migrations))
}
