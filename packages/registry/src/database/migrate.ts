import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@shoal/core/units'
import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { ConfigError } from '../errors.ts'
import { fillMemory } from './fill-memory.ts'
import { fillReq2Hashes } from './req2-hash.ts'
import type { Database } from './schema.ts'

/** Steps that a migration cannot express in SQL, after its statements. */
const afterStatements: Record<string, (db: Kysely<Database>) => Promise<void>> = {
  '0002_torrent_lookup': fillReq2Hashes,
  '0003_memory': fillMemory,
}

/**
 * The space that SQLite's log needs during a migration, as a share of the database: as much as the database if rows of
 * all files are changed, otherwise four times what was measured with 100,000 models.
 */
const logShares: Record<string, number> = { '0002_torrent_lookup': 1, '0003_memory': 1 }
const usualLogShare = 0.03
/** For small databases. */
const minRoomBytes = 16_000_000

type Options = {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
  /** Free space for the database in bytes; undefined if it is unknown, as on a PostgreSQL server. */
  freeBytes?: (() => number) | undefined
}

/**
 * Migrates the tables: numbered SQL files, forward only, each once, under Kysely's lock. Throws a `ConfigError` for
 * tables of a newer version, and if the disk has no room for the migration.
 */
export async function migrate({ db, engine, freeBytes }: Options): Promise<void> {
  const directory = join(import.meta.dirname, 'migrations', engine)
  const migrations = await readMigrations(directory)
  const applied = await readApplied(db, engine)
  refuseNewer(applied, migrations)
  if (freeBytes && applied.length > 0) {
    const pending = Object.keys(migrations).filter((name) => !applied.includes(name))
    await requireRoom(db, pending, freeBytes)
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** The names of the migrations that the tables have had; none for a new database. */
async function readApplied(db: Kysely<Database>, engine: Options['engine']): Promise<string[]> {
  const table = sql.lit(DEFAULT_MIGRATION_TABLE)
  const findTable = {
    sqlite: sql`select name from sqlite_master where type = 'table' and name = ${table}`,
    postgres: sql`select 1 where to_regclass(${table}) is not null`,
  }
  const found = await findTable[engine].execute(db)
  if (found.rows.length === 0) return []
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name desc`.execute(db)
  return rows.map(({ name }) => name)
}

/** Throws a `ConfigError` if the tables have had a migration that this version does not know. */
function refuseNewer(applied: string[], known: Record<string, Migration>) {
  const unknown = applied.find((name) => !(name in known))
  if (unknown) {
    throw new ConfigError(
      `the database was made by a newer version of shoal (migration ${unknown}): update shoal, or restore a backup from before the update`,
    )
  }
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
    `updating the database needs ${formatBytes(needed)} of free disk space, and ${formatBytes(free)} are free: free some space and try again (nothing was changed)`,
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
