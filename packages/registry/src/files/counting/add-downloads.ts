import { type Kysely, sql } from 'kysely'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'

/** The number of downloads per model ID. */
export type DownloadCounts = ReadonlyMap<string, number>

/** Adds the counts to the models' counters in one statement. Skips models that no longer exist. */
export async function addDownloads(
  db: Kysely<Database>,
  engine: Connection['engine'],
  counts: DownloadCounts,
): Promise<void> {
  if (engine === 'sqlite') {
    const added = JSON.stringify(Object.fromEntries(counts))
    await sql`
      update model_downloads set downloads = downloads + added.value
      from json_each(${added}) as added where model_id = added.key`.execute(db)
    return
  }
  // Lock the rows in order of ID, so that two nodes cannot deadlock.
  await sql`
    with locked as (
      select model_id from model_downloads where model_id = any(${[...counts.keys()]}::text[])
      order by model_id for no key update
    )
    update model_downloads set downloads = downloads + added.count
    from locked
    join unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::bigint[]) as added (id, count)
      on added.id = locked.model_id
    where model_downloads.model_id = locked.model_id`.execute(db)
}
