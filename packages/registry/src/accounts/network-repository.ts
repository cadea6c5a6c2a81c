import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import type { Account } from './account-repository.ts'
import { lockAccount } from './lock-account.ts'

export interface NetworkRepository {
  /**
   * Whether the account with this username has signed in from `network` in the last 90 days. False if there is no such
   * account.
   */
  isKnown(username: string, network: string): Promise<boolean>
  /** Records a sign-in from `network`, unless the account's password has changed since it was checked. */
  note(account: Account, network: string): Promise<void>
  /** Deletes networks whose last sign-in was more than 90 days ago. */
  deleteOld(): Promise<unknown>
}

/** How long an account's network is remembered after the last sign-in from it. */
const retentionDays = 90
/**
 * Maximum number of networks per account. If there are more, the network whose last sign-in is the oldest is forgotten,
 * and later sign-ins from it may be delayed again.
 */
const maxNetworks = 200

/**
 * The networks from which each account has signed in recently. The registry only needs to check whether a given network
 * is among them, so it stores keyed digests of username and network: the table does not reveal where people live and
 * work, or who shares a connection. (A copy of the entire database includes the key, and is therefore not protected.)
 */
export function networkRepository(db: Kysely<Database>, key: string): NetworkRepository {
  const hashNetwork = (username: string, network: string): Uint8Array =>
    createHmac('sha256', key).update(`${username}\0${network}`).digest()

  return {
    async isKnown(username: string, network: string): Promise<boolean> {
      const row = await db
        .selectFrom('account_network')
        .select('account_id')
        .where('network_hash', '=', hashNetwork(username, network))
        .where('last_signed_in_at', '>', oldest(db))
        .executeTakeFirst()
      return row !== undefined
    },

    note: ({ id, username, password_hash }: Account, network: string) =>
      db.transaction().execute(async (trx) => {
        const account = await lockAccount(trx, id)
        if (account.password_hash !== password_hash) return
        const last_signed_in_at = databaseTime(trx)
        await trx
          .insertInto('account_network')
          .values({
            network_hash: hashNetwork(username, network),
            account_id: id,
            last_signed_in_at,
          })
          .onConflict((known) => known.column('network_hash').doUpdateSet({ last_signed_in_at }))
          .execute()
        await trx
          .deleteFrom('account_network')
          .where('account_id', '=', id)
          .where('last_signed_in_at', '<', ({ selectFrom }) =>
            selectFrom('account_network')
              .select('last_signed_in_at')
              .where('account_id', '=', id)
              .orderBy('last_signed_in_at', 'desc')
              .limit(1)
              .offset(maxNetworks - 1),
          )
          .execute()
      }),

    deleteOld: () =>
      db.deleteFrom('account_network').where('last_signed_in_at', '<=', oldest(db)).execute(),
  }
}

const oldest = (db: Kysely<Database>) => databaseTime(db, -retentionDays * 86_400)
