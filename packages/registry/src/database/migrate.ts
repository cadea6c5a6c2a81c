import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { fillMemory } from './fill-memory.ts'
import { fillReq2Hashes } from './req2-hash.ts'
import type { Database } from './schema.ts'

/** What a migration has to do after its statements and cannot say in SQL. */
const afterStatements: Record<string, (db: Kysely<Database>) => Promise<void>> = {
  '0002_torrent_lookup': fillReq2Hashes,
  '0003_memory': fillMemory,
}

/** Brings the tables up to date: numbered SQL files, forward only, each once, under Kysely's lock. */
export async function migrate({
  db,
  engine,
}: {
  db: Kysely<Database>
  engine: 'sqlite' | 'postgres'
}): Promise<void> {
  const directory = join(import.meta.dirname, 'migrations', engine)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => readMigrations(directory) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
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
