import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/schema.ts'

/** Undoes a migration, the latest first. The first one is never undone. */
const undoing = {
  '0006_download_journal': [sql`drop table download_journal`],
  '0005_account_networks': [sql`drop table account_network`],
  '0004_trash': [sql`drop table trash`],
  '0003_memory': [
    sql`drop index model_by_memory`,
    sql`alter table model drop column min_memory_bytes`,
    sql`alter table file drop column memory_bytes`,
  ],
  '0002_torrent_lookup': [
    sql`drop index file_of_public_req2_hash`,
    sql`drop index file_of_public_info_hash`,
    sql`alter table file drop column public_req2_hash`,
  ],
}

/** Reverts the tables to before a migration, like those of a registry that has not been updated yet. */
export async function undoMigrations(db: Kysely<Database>, downTo: keyof typeof undoing) {
  for (const [name, statements] of Object.entries(undoing)) {
    for (const statement of statements) await statement.execute(db)
    await sql`delete from kysely_migration where name = ${name}`.execute(db)
    if (name === downTo) return
  }
}
