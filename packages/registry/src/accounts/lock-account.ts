import { type Kysely, type Selectable, sql } from 'kysely'
import type { AccountTable, Database } from '../database/schema.ts'
import { conflict, notFound } from '../errors.ts'

/**
 * Locks the account's row until the transaction ends, and returns the row. To enforce a limit on the number of rows
 * that belong to an account, call this before counting them. The row is locked by an update that changes nothing,
 * because SQLite has no `for update`.
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

/**
 * Locks the row of an account that is about to become the owner or a member of a model. Call this before locking the
 * model, so that transactions that lock both cannot deadlock.
 * @throws conflict if the account cannot sign in
 */
export async function lockActiveAccount(
  trx: Kysely<Database>,
  accountId: string,
): Promise<Selectable<AccountTable>> {
  const account = await lockAccount(trx, accountId)
  requireActive(account)
  return account
}

/** @throws conflict if the account cannot sign in */
export function requireActive(account: Selectable<AccountTable>) {
  if (account.is_system === 0 && account.disabled_at === null && account.removed_at === null) return
  throw conflict(
    `the account ${account.username} cannot be the owner or a member of a model: the account is not active`,
  )
}
