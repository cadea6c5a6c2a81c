import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import type { Database } from './schema.ts'

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
  const migrations = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(join(directory, name), 'utf8')
    const statements = text.split(/;\s*\n/).filter((statement) => statement.trim() !== '')
    return [
      name.replace(/\.sql$/, ''),
      {
        async up(db) {
          for (const statement of statements) await sql.raw(statement).execute(db)
        },
      },
    ]
  })
  return Object.fromEntries(await Promise.all(migrations))
}
