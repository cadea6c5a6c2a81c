import type { User, UserProfile } from '@shoal/protocol'
import type { Kysely, Selectable } from 'kysely'
import { v7 as newId } from 'uuid'
import type { Note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { AccountTable, Database } from '../database/schema.ts'
import { conflict, forbidden, notFound, unknownUser } from '../errors.ts'
import { lockAccount } from './lock-account.ts'
import { requireSession } from './require-session.ts'
import { hashToken } from './tokens.ts'

export interface AccountRepository {
  /** Whether no human account has been created yet. */
  isFirstMissing(): Promise<boolean>
  /**
   * Creates a human account. The first one becomes an administrator. The transaction itself determines whether the
   * account is the first, so that only one of several concurrent registrations creates an administrator.
   * @throws forbidden if a required setup code is missing or wrong, registration is closed, or the invitation is not
   * valid; conflict if the username is taken
   */
  create(account: NewAccount): Promise<Account>
  /**
   * Returns the registry's own account, and creates that account if it does not exist. Its username is `shoal`, unless
   * a user registered that name before it was reserved.
   */
  getSystemAccount(): Promise<Account>
  /** Returns the account with this username. Also finds removed accounts, because their usernames remain taken. */
  find(username: string): Promise<Account | undefined>
  /** @throws not-found if the account no longer exists */
  get(id: string): Promise<Account>
  /** Returns a user's profile. Its model count includes private models if `seesPrivate` is true. @throws not-found */
  getProfile(username: string, seesPrivate: boolean): Promise<UserProfile>
  /** Sets a new password and ends all sessions except `keptSession`. */
  changePassword(id: string, passwordHash: string, keptSession: string, note: Note): Promise<void>
  /**
   * Sets a new password for an account that may be compromised. Ends all its sessions, revokes all its API keys, and
   * forgets the networks from which it has signed in. Returns how many of the sessions and keys had not expired.
   */
  resetPassword(
    id: string,
    passwordHash: string,
    note: Note,
  ): Promise<{ sessions: number; keys: number }>
}

export type NewAccount = {
  username: string
  email: string | null
  passwordHash: string
  isAllowedToBeFirst: boolean
  /** If false, only the first account and accounts with an invitation can be created. */
  isRegistrationOpen: boolean
  /** Whether the account becomes an administrator even if it is not the first one. */
  isAdmin?: boolean
  /** The secret of an invitation. Each invitation can be used only once. */
  invitation?: string | undefined
  /** Returns what to record in the audit log. */
  note?: ((account: Account, invitationId: string | undefined) => Note) | undefined
}

export type Account = Selectable<AccountTable>

/** The account that publishes the demo models. It cannot sign in. */
export const systemUsername = 'shoal'

/**
 * Possible usernames for the system account, in order of preference, which is the same on every node. There is more
 * than one because version 0.1 allowed users to register `shoal`.
 */
const systemUsernameAt = (attempt: number) =>
  [systemUsername, 'shoal-system'][attempt] ?? `shoal-system-${attempt}`

/** The name of the row in `secret` that contains the ID of the first administrator's account. */
export const firstAdminName = 'first-admin'

/**
 * The name of the secret that is required to create the first account. The secret is deleted once that account exists.
 */
export const setupCodeName = 'setup-code'

export function accountRepository(db: Kysely<Database>): AccountRepository {
  const isMissing = async () =>
    (await db
      .selectFrom('secret')
      .select('name')
      .where('name', '=', firstAdminName)
      .executeTakeFirst()) === undefined

  const findSystemAccount = () =>
    db.selectFrom('account').selectAll().where('is_system', '=', 1).orderBy('id').executeTakeFirst()

  return {
    isFirstMissing: isMissing,

    create: (account: NewAccount): Promise<Account> =>
      db.transaction().execute(async (trx) => {
        const id = newId()
        const claim = await trx
          .insertInto('secret')
          .values({ name: firstAdminName, value: id })
          .onConflict((taken) => taken.doNothing())
          .executeTakeFirst()
        const isFirst = (claim.numInsertedOrUpdatedRows ?? 0n) > 0n
        const invitation =
          account.invitation === undefined
            ? undefined
            : await useInvitation(trx, account.invitation, account.username)
        if (isFirst && !account.isAllowedToBeFirst && invitation?.is_admin !== 1) {
          throw forbidden(
            'the first account needs the setup code that the registry printed at startup',
            {
              code: 'setup_code_required',
            },
          )
        }
        if (!isFirst && !account.isRegistrationOpen && !invitation) throw registrationClosed()
        if (isFirst) await trx.deleteFrom('secret').where('name', '=', setupCodeName).execute()
        const row = await trx
          .insertInto('account')
          .values({
            id,
            username: account.username,
            email: account.email,
            password_hash: account.passwordHash,
            is_admin: isFirst || account.isAdmin || invitation?.is_admin ? 1 : 0,
            is_system: 0,
            quota_bytes: null,
            created_at: databaseTime(trx),
          })
          .onConflict((taken) => taken.column('username').doNothing())
          .returningAll()
          .executeTakeFirst()
        if (!row) throw usernameTaken(account.username)
        await account.note?.(row, invitation?.id)(trx)
        return row
      }),

    async getSystemAccount(): Promise<Account> {
      for (let attempt = 0; ; attempt += 1) {
        const found = await findSystemAccount() // created by this call, an earlier one, or another node
        if (found) return found
        await db
          .insertInto('account')
          .values({
            id: newId(),
            username: systemUsernameAt(attempt),
            email: null,
            password_hash: null,
            is_admin: 0,
            is_system: 1,
            quota_bytes: Number.MAX_SAFE_INTEGER,
            created_at: databaseTime(db),
          })
          .onConflict((taken) => taken.column('username').doNothing())
          .execute()
      }
    },

    find: (username: string): Promise<Account | undefined> =>
      db.selectFrom('account').selectAll().where('username', '=', username).executeTakeFirst(),

    get: (id: string): Promise<Account> =>
      db
        .selectFrom('account')
        .selectAll()
        .where('id', '=', id)
        .where('removed_at', 'is', null)
        .executeTakeFirstOrThrow(() => notFound('this account no longer exists')),

    async getProfile(username: string, seesPrivate: boolean): Promise<UserProfile> {
      const account = await db
        .selectFrom('account')
        .select((row) => [
          'username',
          'created_at',
          row
            .selectFrom('model')
            .whereRef('model.owner', '=', 'account.username')
            .$if(!seesPrivate, (models) => models.where('is_public', '=', 1))
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .as('models_count'),
        ])
        .where('username', '=', username)
        .where('removed_at', 'is', null)
        .executeTakeFirstOrThrow(() => unknownUser(username))
      return { ...account, models_count: Number(account.models_count) }
    },

    changePassword: (id: string, passwordHash: string, keptSession: string, note: Note) =>
      db.transaction().execute(async (trx) => {
        await lockPresent(trx, id)
        await requireSession(trx, keptSession)
        await note(trx)
        await trx
          .updateTable('account')
          .set({ password_hash: passwordHash })
          .where('id', '=', id)
          .execute()
        await trx
          .deleteFrom('session')
          .where('account_id', '=', id)
          .where('id', '!=', keptSession)
          .execute()
      }),

    resetPassword: (id: string, passwordHash: string, note: Note) =>
      db.transaction().execute(async (trx) => {
        await lockPresent(trx, id)
        await note(trx)
        await trx
          .updateTable('account')
          .set({ password_hash: passwordHash })
          .where('id', '=', id)
          .execute()
        const sessions = await trx
          .deleteFrom('session')
          .where('account_id', '=', id)
          .returning(['expires_at', databaseTime(trx).as('now')])
          .execute()
        const keys = await trx
          .deleteFrom('api_key')
          .where('account_id', '=', id)
          .returning(['expires_at', databaseTime(trx).as('now')])
          .execute()
        await trx.deleteFrom('account_network').where('account_id', '=', id).execute()
        return { sessions: sessions.filter(isLive).length, keys: keys.filter(isLive).length }
      }),
  }
}

const isLive = ({ expires_at, now }: { expires_at: string | null; now: string }) =>
  expires_at === null || expires_at > now

/**
 * Marks an invitation as used. Returns its ID and whether the new account becomes an administrator.
 * @throws forbidden if the invitation is unknown, used, revoked or expired, or if its creator is no longer an active
 * administrator
 */
async function useInvitation(trx: Kysely<Database>, token: string, username: string) {
  return trx
    .updateTable('invitation')
    .set({ used_at: databaseTime(trx), used_by: username })
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseTime(trx))
    .where((is) =>
      is.or([
        is('created_by', 'is', null),
        is.exists(
          is
            .selectFrom('account')
            .select('id')
            .whereRef('account.username', '=', 'invitation.created_by')
            .where('is_admin', '=', 1)
            .where('disabled_at', 'is', null)
            .where('removed_at', 'is', null),
        ),
      ]),
    )
    .returning(['id', 'is_admin'])
    .executeTakeFirstOrThrow(invitationInvalid)
}

export function invitationInvalid() {
  return forbidden('this invitation has been used or revoked, or has expired: ask for a new one', {
    code: 'invitation_invalid',
  })
}

export const usernameTaken = (username: string) =>
  conflict(`the username ${username} is taken`, { code: 'name_taken' })

export function registrationClosed() {
  return forbidden("registration is closed: ask this registry's administrator for an invitation", {
    code: 'registration_closed',
  })
}

export function toUser(account: Account): User {
  const { id, username, email, is_admin, created_at } = account
  return { id, username, email, is_admin: is_admin === 1, created_at }
}

/** Locks the account's row. @throws not-found if the account was removed */
async function lockPresent(trx: Kysely<Database>, id: string) {
  const { removed_at } = await lockAccount(trx, id)
  if (removed_at !== null) throw notFound('this account no longer exists')
}
