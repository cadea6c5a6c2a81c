import { type Kysely, type Selectable, sql } from 'kysely'
import type { AccountTable, Database } from '../database/schema.ts'
import { notFound } from '../errors.ts'

/**
 * Locks the account's row until the transaction ends, and returns the row. Call this before counting what belongs to an
 * account in order to enforce a limit. The row is locked by an update that changes nothing, because SQLite has no `for
 * update`.
 * @throws not-found if the account no longer exists
 */
export function lockAccount(
  trx: Kysely<Database>,
  accountId: string,
): Promise<Selectable<AccountTable>> {
  return trx
    .updateTable('account')
    .set({ is_admin: sql`is_admin` })
    .where('id', '=', accountId)
    .returningAll()
    .executeTakeFirstOrThrow(() => notFound('this account no longer exists'))
}
