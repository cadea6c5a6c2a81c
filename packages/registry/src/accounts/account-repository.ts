import type { User, UserProfile } from '@shoal/protocol'
import type { Kysely, Selectable } from 'kysely'
import { v7 as newId } from 'uuid'
import type { AccountTable, Database } from '../database/schema.ts'
import { conflict, forbidden, notFound } from '../errors.ts'

export interface AccountRepository {
  /** Whether no human account was ever made. */
  isFirstMissing(): Promise<boolean>
  /**
   * Creates a human account; exactly one of all becomes the first, and admin. Whether it may is decided here, in the
   * transaction that claims the first place: of several that register at once only one finds it free.
   * @throws forbidden, and conflict when the name is taken
   */
  create(account: NewAccount): Promise<Account>
  /**
   * The account of the registry itself, made when it is not there. Its name is `shoal`, unless a person has that name on
   * a registry that is older than the reservation.
   */
  getSystemAccount(): Promise<Account>
  find(username: string): Promise<Account | undefined>
  /** @throws not-found when the account is gone */
  get(id: string): Promise<Account>
  /** The oldest first. */
  list(): Promise<Account[]>
  /** Counts private models too if `seesPrivate`. @throws not-found */
  getProfile(username: string, seesPrivate: boolean): Promise<UserProfile>
  /** Sets a new password and ends every session but one. */
  changePassword(id: string, passwordHash: string, keptSession: string): Promise<void>
  /**
   * Sets a new password for an account that may be in wrong hands: every session and API key of it ends, and the
   * networks from which it has signed in are strange again. Returns how many sessions and keys there were, expired ones
   * not counted.
   */
  resetPassword(id: string, passwordHash: string): Promise<{ sessions: number; keys: number }>
}

export type NewAccount = {
  username: string
  email: string | null
  passwordHash: string
  isAllowedToBeFirst: boolean
  /** When it is not, only the first is let in. */
  isRegistrationOpen: boolean
}

export type Account = Selectable<AccountTable>

/** The account that publishes the demo models. Nobody can sign in with it. */
export const systemUsername = 'shoal'

/** The names that it tries, the same on every node: a person may have taken the first one, which 0.1 allowed. */
const systemUsernameAt = (attempt: number) =>
  [systemUsername, 'shoal-system'][attempt] ?? `shoal-system-${attempt}`

/** The secret that the first account has to show. It goes when there is one. */
export const setupCodeName = 'setup-code'

export function accountRepository(db: Kysely<Database>): AccountRepository {
  const isMissing = async () =>
    (await db
      .selectFrom('secret')
      .select('name')
      .where('name', '=', 'first-admin')
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
          .values({ name: 'first-admin', value: id })
          .onConflict((taken) => taken.doNothing())
          .executeTakeFirst()
        const isFirst = (claim.numInsertedOrUpdatedRows ?? 0n) > 0n
        if (isFirst && !account.isAllowedToBeFirst) {
          throw forbidden('the first account needs the setup code that the registry printed', {
            code: 'setup_code_required',
          })
        }
        if (!isFirst && !account.isRegistrationOpen) throw registrationClosed()
        if (isFirst) await trx.deleteFrom('secret').where('name', '=', setupCodeName).execute()
        const row = await trx
          .insertInto('account')
          .values({
            id,
            username: account.username,
            email: account.email,
            password_hash: account.passwordHash,
            is_admin: isFirst ? 1 : 0,
            is_system: 0,
            quota_bytes: null,
            created_at: new Date().toISOString(),
          })
          .onConflict((taken) => taken.column('username').doNothing())
          .returningAll()
          .executeTakeFirst()
        if (!row) throw conflict(`the username ${account.username} is taken`)
        return row
      }),

    async getSystemAccount(): Promise<Account> {
      for (let attempt = 0; ; attempt += 1) {
        const found = await findSystemAccount() // made now, earlier, or meanwhile by another node
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
            created_at: new Date().toISOString(),
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
        .executeTakeFirstOrThrow(() => notFound('this account is gone')),

    list: (): Promise<Account[]> => db.selectFrom('account').selectAll().orderBy('id').execute(),

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
        .executeTakeFirstOrThrow(() => notFound(`no user ${username}`))
      return { ...account, models_count: Number(account.models_count) }
    },

    changePassword: (id: string, passwordHash: string, keptSession: string) =>
      db.transaction().execute(async (trx) => {
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

    resetPassword: (id: string, passwordHash: string) =>
      db.transaction().execute(async (trx) => {
        const now = new Date().toISOString()
        await trx
          .updateTable('account')
          .set({ password_hash: passwordHash })
          .where('id', '=', id)
          .execute()
        const sessions = await trx
          .deleteFrom('session')
          .where('account_id', '=', id)
          .returning('expires_at')
          .execute()
        const keys = await trx
          .deleteFrom('api_key')
          .where('account_id', '=', id)
          .returning('expires_at')
          .execute()
        await trx.deleteFrom('account_network').where('account_id', '=', id).execute()
        const isLive = ({ expires_at }: { expires_at: string | null }) =>
          expires_at === null || expires_at > now
        return { sessions: sessions.filter(isLive).length, keys: keys.filter(isLive).length }
      }),
  }
}

export function registrationClosed() {
  return forbidden('registration is closed: ask the administrator of this registry', {
    code: 'registration_closed',
  })
}

export function toUser(account: Account): User {
  const { id, username, email, is_admin, created_at } = account
  return { id, username, email, is_admin: is_admin === 1, created_at }
}
