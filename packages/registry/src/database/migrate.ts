import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
 * Migrates the tables: numbered SQL files, forward only, each once, under Kysely's lock. Throws a `ConfigError` for
 * tables of a newer version.
 */
export async function migrate({
  db,
  engine,
}: {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
}): Promise<void> {
  const directory = join(import.meta.dirname, 'migrations', engine)
  const migrations = await readMigrations(directory)
  await refuseNewer(db, engine, migrations)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** Throws a `ConfigError` if the tables have had a migration that this version does not know. */
async function refuseNewer(
  db: Kysely<Database>,
  engine: 'sqlite' | 'postgres',
  known: Record<string, Migration>,
) {
  const table = sql.lit(DEFAULT_MIGRATION_TABLE)
  const findTable = {
    sqlite: sql`select name from sqlite_master where type = 'table' and name = ${table}`,
    postgres: sql`select 1 where to_regclass(${table}) is not null`,
  }
  const found = await findTable[engine].execute(db)
  if (found.rows.length === 0) return
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name desc`.execute(db)
  const unknown = rows.find(({ name }) => !(name in known))
  if (unknown) {
    throw new ConfigError(
      `the database was made by a newer version of shoal (migration ${unknown.name}): update shoal, or restore a backup from before the update`,
    )
  }
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
