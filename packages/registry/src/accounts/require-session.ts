import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import { unauthenticated } from '../errors.ts'

/**
 * Throws if the session no longer exists. A password reset ends all sessions, so a request that was sent before the
 * reset cannot create a key or set another password after it.
 */
export async function requireSession(trx: Kysely<Database>, sessionId: string) {
  const session = await trx
    .selectFrom('session')
    .select('id')
    .where('id', '=', sessionId)
    .executeTakeFirst()
  if (!session) throw unauthenticated('this session has ended: sign in again')
}
