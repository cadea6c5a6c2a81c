import { type Kysely, sql } from 'kysely'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'

/** Downloads by the id of their model. */
export type DownloadCounts = ReadonlyMap<string, number>

/** Adds to the counters of models, all in one statement. Models that are gone are left out. */
export async function addDownloads(
  db: Kysely<Database>,
  engine: Connection['engine'],
  counts: DownloadCounts,
): Promise<void> {
  if (engine === 'sqlite') {
    const added = JSON.stringify(Object.fromEntries(counts))
    await sql`
      update model set downloads = downloads + added.value
      from json_each(${added}) as added where model.id = added.key`.execute(db)
    return
  }
  // Locked in the order of ids, so that two nodes never wait for each other.
  await sql`
    with locked as (
      select id from model where id = any(${[...counts.keys()]}::text[]) order by id for no key update
    )
    update model set downloads = downloads + added.count
    from locked
    join unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::bigint[]) as added (id, count)
      on added.id = locked.id
    where model.id = locked.id`.execute(db)
}
