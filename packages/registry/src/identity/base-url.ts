/**
 * The base URL with which the registry last ran, for `shoal admin`, which runs without the registry's settings. It is in
 * the table `secret`, although it is no secret, because that table has values by name.
 */
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'

const name = 'base-url'

export async function keepBaseUrl(db: Kysely<Database>, baseUrl: string): Promise<void> {
  if ((await readBaseUrl(db)) === baseUrl) return
  await db
    .insertInto('secret')
    .values({ name, value: baseUrl })
    .onConflict((known) => known.column('name').doUpdateSet({ value: baseUrl }))
    .execute()
}

/** Undefined if the registry has not run since it began to keep its base URL. */
export async function readBaseUrl(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}
