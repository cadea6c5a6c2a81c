import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import type { Connection } from '../database/connect.ts'

type Older = Pick<Connection, 'db' | 'engine'>

/**
 * Functions by migration name, latest migration first. Each returns the statements that undo the migration. The first
 * migration cannot be undone.
 */
const undoing: Record<string, (older: Older) => Promise<RawBuilder<unknown>[]>> = {
  '0012_cache_bytes': async ({ engine }) => [
    engine === 'sqlite'
      ? sql`drop trigger model_numbers_updated`
      : sql`drop trigger model_numbers_updated on model`,
    sql`alter table model drop column cache_bytes_per_token`,
    sql`alter table file drop column cache_bytes_per_token`,
    sql.raw(await readTrigger(engine, '0007_search_index.sql', 'model_numbers_updated')),
  ],
  '0011_former_names': async () => [sql`drop table former_name`],
  '0010_people': async ({ engine }) => [
    ...(engine === 'postgres' ? [sql`drop function refuse_audit_change cascade`] : []),
    sql`drop table audit`,
    sql`drop table invitation`,
    sql`drop table model_member`,
    ...(engine === 'postgres' ? [sql`drop trigger account_changed on account`] : []),
    sql`alter table account drop column removed_at`,
    sql`alter table account drop column disabled_at`,
    ...(engine === 'postgres'
      ? [
          sql`create trigger account_changed after insert or delete or update of username on account
            for each statement execute function notify_change('change')`,
        ]
      : []),
  ],
  '0009_nodes': async ({ engine }) => [
    ...(engine === 'postgres' ? [sql`drop function notify_change cascade`] : []),
    sql`drop table compatibility`,
    sql`drop table lease`,
    sql`alter table file drop column upload_id`,
  ],
  '0008_download_counter': async ({ engine }) => [
    sql`update model set downloads = (select downloads from model_downloads where model_id = id)`,
    engine === 'sqlite'
      ? sql`drop trigger model_downloads_started`
      : sql`drop function start_model_downloads cascade`,
    sql`drop table model_downloads`,
  ],
  '0007_search_index': async ({ engine }) => [
    ...noteChanges[engine],
    sql`drop table model_change`,
    sql`drop index model_of_owner`,
    ...(await droppedStatements(engine)).map((statement) => sql.raw(statement)),
  ],
  '0006_download_journal': async () => [sql`drop table download_journal`],
  '0005_account_networks': async () => [sql`drop table account_network`],
  '0004_trash': async () => [sql`drop table trash`],
  '0003_memory': async () => [
    sql`drop index model_by_memory`,
    sql`alter table model drop column min_memory_bytes`,
    sql`alter table file drop column memory_bytes`,
  ],
  '0002_torrent_lookup': async () => [
    sql`drop index file_of_public_req2_hash`,
    sql`drop index file_of_public_info_hash`,
    sql`alter table file drop column public_req2_hash`,
  ],
}

const getDirectory = (engine: Connection['engine']) =>
  join(import.meta.dirname, '../database/migrations', engine)

const noteChanges = {
  sqlite: ['inserted', 'deleted', 'text_updated', 'numbers_updated'].map((when) =>
    sql.raw(`drop trigger model_${when}`),
  ),
  postgres: [
    sql`drop function note_model_text cascade`,
    sql`drop function note_model_numbers cascade`,
  ],
}

/** Returns the statement of a migration that creates a trigger. */
async function readTrigger(engine: Connection['engine'], filename: string, name: string) {
  const text = await readFile(join(getDirectory(engine), filename), 'utf8')
  const statement = text.split(/;\s*\n/).find((one) => one.includes(`create trigger ${name} `))
  if (statement === undefined) throw new Error(`${filename} creates no trigger ${name}`)
  return statement
}

/** Returns the statements that recreate, without rows, everything that the search index migration dropped. */
async function droppedStatements(engine: Connection['engine']): Promise<string[]> {
  const directory = getDirectory(engine)
  const texts = await Promise.all(
    ['0001_registry.sql', '0003_memory.sql'].map((name) => readFile(join(directory, name), 'utf8')),
  )
  const creates =
    /^create (virtual table|table|index|trigger) (model_search|search_term|model_tag|model_quantization|model_by_(architecture|license|size|parameters|memory|owner)|model_private)/
  return texts
    .flatMap((text) => text.split(/;\s*\n/))
    .map((statement) => statement.trim())
    .filter((statement) => creates.test(statement))
}

/** Reverts the tables to their state before a migration, as in a registry that has not been updated yet. */
export async function undoMigrations(older: Older, downTo: string) {
  for (const [name, findStatements] of Object.entries(undoing)) {
    for (const statement of await findStatements(older)) await statement.execute(older.db)
    await sql`delete from kysely_migration where name = ${name}`.execute(older.db)
    if (name === downTo) return
  }
  throw new Error(`there is no migration ${downTo}`)
}
