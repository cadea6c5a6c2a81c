import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * Reads a secret that all nodes of the registry share: `bytes` random bytes in hexadecimal. The first call creates the
 * secret.
 */
export async function readSecret(db: Kysely<Database>, name: string, bytes = 32): Promise<string> {
  await db
    .insertInto('secret')
    .values({ name, value: randomBytes(bytes).toString('hex') })
    .onConflict((exists) => exists.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return value
}
