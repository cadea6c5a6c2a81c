import type { Session } from '@shoal/protocol'
import type { Kysely, Selectable } from 'kysely'
import { v7 as newId } from 'uuid'
import type { Note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { AccountTable, Database } from '../database/schema.ts'
import { notFound, unauthenticated } from '../errors.ts'
import type { Caller } from './caller.ts'
import { lockAccount } from './lock-account.ts'
import { hashToken, makeToken } from './tokens.ts'

export interface SessionRepository {
  /**
   * Starts a session, which lasts 30 days by default. If the account already has 500 sessions, the oldest one ends.
   * @throws unauthenticated if the account is disabled, or if the password has changed since it was checked, because no
   * session may outlast a password reset
   */
  create(
    account: Pick<Selectable<AccountTable>, 'id' | 'password_hash'>,
    userAgent: string | null,
    options?: { lifetimeSeconds?: number; note?: Note },
  ): Promise<{ token: string; expiresAt: string }>
  /**
   * Returns the owner of this token, or undefined if the token is unknown, revoked or expired. Records its use, at most
   * once a minute.
   */
  findCaller(token: string): Promise<Caller | undefined>
  /** Lists the account's sessions, newest first, excluding expired ones. */
  list(accountId: string, currentId: string): Promise<Session[]>
  /** @throws not-found if this account has no such session */
  delete(accountId: string, id: string, note?: Note): Promise<void>
  deleteExpired(): Promise<unknown>
}

const lifetimeDays = 30
/**
 * Maximum number of sessions per account. Without this limit, a script that signs in every minute would add more and
 * more rows, and the list of sessions would show all of them.
 */
const maxSessions = 500
/** Minimum time between two updates of a session's or API key's `last_used_at`, to save disk writes. */
const useResolutionMs = 60_000

/**
 * Returns a repository that calls `onUnnoted` if the time of a session's last use could not be written, for example
 * because the disk is full. The request is still processed.
 */
export function sessionRepository(
  db: Kysely<Database>,
  onUnnoted: (error: unknown) => void = () => undefined,
): SessionRepository {
  return {
    async create(
      { id: accountId, password_hash }: Pick<Selectable<AccountTable>, 'id' | 'password_hash'>,
      userAgent: string | null,
      {
        lifetimeSeconds = lifetimeDays * 86_400,
        note,
      }: { lifetimeSeconds?: number; note?: Note } = {},
    ) {
      const token = makeToken('session')
      const session = {
        id: newId(),
        account_id: accountId,
        token_hash: hashToken(token),
        user_agent: userAgent?.slice(0, 300) ?? null,
        created_at: databaseTime(db),
        last_used_at: null,
        expires_at: databaseTime(db, lifetimeSeconds),
      }
      const expiresAt = await db.transaction().execute(async (trx) => {
        const account = await lockAccount(trx, accountId)
        if (account.password_hash !== password_hash) {
          throw unauthenticated('the password has changed in the meantime: sign in again')
        }
        if (account.disabled_at !== null) throw accountDisabled()
        await note?.(trx)
        const { expires_at } = await trx
          .insertInto('session')
          .values(session)
          .returning('expires_at')
          .executeTakeFirstOrThrow()
        await trx
          .deleteFrom('session')
          .where('account_id', '=', accountId)
          .where('id', '!=', session.id) // keeps the new session even if the clock was set back
          .where('created_at', '<', ({ selectFrom }) =>
            selectFrom('session')
              .select('created_at')
              .where('account_id', '=', accountId)
              .orderBy('created_at', 'desc')
              .limit(1)
              .offset(maxSessions - 1),
          )
          .execute()
        return expires_at
      })
      return { token, expiresAt }
    },

    async findCaller(token: string): Promise<Caller | undefined> {
      const row = await db
        .selectFrom('session')
        .innerJoin('account', 'account.id', 'session.account_id')
        .select(['session.id', 'account_id', 'username', 'is_admin', 'last_used_at'])
        .select(databaseTime(db).as('now'))
        .where('token_hash', '=', hashToken(token))
        .where('expires_at', '>', databaseTime(db))
        .where('disabled_at', 'is', null)
        .executeTakeFirst()
      if (!row) return undefined
      if (isWorthNoting(row)) {
        await db
          .updateTable('session')
          .set({ last_used_at: row.now })
          .where('id', '=', row.id)
          .execute()
          .catch(onUnnoted)
      }
      return {
        accountId: row.account_id,
        username: row.username,
        isAdmin: row.is_admin === 1,
        credential: { kind: 'session', id: row.id, scopes: ['read', 'write', 'admin'] },
      }
    },

    async list(accountId: string, currentId: string): Promise<Session[]> {
      const rows = await db
        .selectFrom('session')
        .select(['id', 'created_at', 'last_used_at', 'expires_at', 'user_agent'])
        .where('account_id', '=', accountId)
        .where('expires_at', '>', databaseTime(db))
        .orderBy('id', 'desc')
        .execute()
      return rows.map((row) => ({ ...row, current: row.id === currentId }))
    },

    delete: (accountId: string, id: string, note?: Note): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('session')
          .where('account_id', '=', accountId)
          .where('id', '=', id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw notFound(`no session ${id}`)
        await note?.(trx)
      }),

    deleteExpired: () =>
      db.deleteFrom('session').where('expires_at', '<=', databaseTime(db)).execute(),
  }
}

export function accountDisabled() {
  return unauthenticated("this account is disabled: contact this registry's administrator", {
    code: 'account_disabled',
  })
}

export function isWorthNoting(row: { last_used_at: string | null; now: string }): boolean {
  const { last_used_at, now } = row
  return last_used_at === null || Date.parse(now) - Date.parse(last_used_at) > useResolutionMs
}
