import type { AdminUser, Role, Usage, UserChanges } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { type Account, firstAdminName } from '../accounts/account-repository.ts'
import { lockAccount, lockActiveAccount, requireActive } from '../accounts/lock-account.ts'
import type { Actor } from '../audit/actor.ts'
import { model, note, user } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { AccountTable, Database } from '../database/schema.ts'
import { conflict, notFound, unknownUser } from '../errors.ts'
import { storedBytesOf } from '../files/rows/stored-bytes.ts'

/**
 * The accounts, as an administrator sees and changes them. Each change is recorded in the audit log. Methods that take
 * a username throw not-found if there is no such account, or if it was removed. Methods that change an account also
 * throw not-found for the system account.
 */
export interface PeopleRepository {
  /** Returns all accounts, oldest first. */
  list(): Promise<AdminUser[]>
  get(username: string): Promise<AdminUser>
  /** Returns the usage and the quota of the account with this ID. */
  findUsage(accountId: string): Promise<Usage>
  /**
   * Changes the role, status or quota. Disabling ends the account's sessions, and invalidates its API keys and all
   * links to private files that it could read. Enabling makes the API keys valid again.
   * @throws conflict if no active administrator would remain
   */
  change(username: string, changes: UserChanges, actor: Actor): Promise<void>
  /** Makes another account the owner of all of the account's models. */
  giveModels(username: string, to: string, actor: Actor): Promise<void>
  /** Returns the IDs and names of the account's models. */
  listModels(username: string): Promise<{ id: string; name: string }[]>
  /**
   * Checks that an account can be removed.
   * @throws conflict if the account is the only active administrator, or if it owns models that would be neither
   * deleted nor given to another active account (`to`)
   */
  requireRemovable(
    username: string,
    models: { to: string | undefined; areDeleted: boolean },
  ): Promise<void>
  /**
   * Removes an account with its sessions, API keys and email address. The username remains taken.
   * @throws conflict if the account owns models, or if no active administrator would remain
   */
  remove(username: string, actor: Actor): Promise<void>
}

type Row = Pick<
  AccountTable,
  | 'id'
  | 'username'
  | 'email'
  | 'is_admin'
  | 'is_system'
  | 'quota_bytes'
  | 'created_at'
  | 'disabled_at'
> & {
  session_used_at: string | null
  key_used_at: string | null
  sessions_count: number
  api_keys_count: number
  models_count: number
  stored_bytes: number
}

/** `defaultQuotaBytes` applies to accounts that have no individual quota; undefined means no limit. */
export function peopleRepository(
  db: Kysely<Database>,
  defaultQuotaBytes: number | undefined,
): PeopleRepository {
  async function find(username: string): Promise<Account> {
    return db
      .selectFrom('account')
      .selectAll()
      .where('username', '=', username.toLowerCase())
      .where('removed_at', 'is', null)
      .executeTakeFirstOrThrow(() => unknownUser(username))
  }

  /** Runs a transaction in which the account's row is locked. */
  async function withAccount(
    username: string,
    work: (trx: Kysely<Database>, account: Account) => Promise<void>,
  ): Promise<void> {
    const { id } = await find(username)
    await db.transaction().execute(async (trx) => {
      await lockAdmins(trx)
      const account = await lockAccount(trx, id)
      if (account.removed_at !== null) throw unknownUser(account.username)
      if (account.is_system === 1) {
        throw notFound(
          `the account ${account.username} is the system account, which cannot be changed`,
        )
      }
      await work(trx, account)
    })
  }

  const toUsage = (row: Row): Usage => ({
    stored_bytes: Number(row.stored_bytes),
    quota_bytes: row.quota_bytes ?? defaultQuotaBytes ?? null,
    models_count: Number(row.models_count),
    api_keys_count: Number(row.api_keys_count),
  })

  function toAdminUser(row: Row): AdminUser {
    const { id, username, email, created_at, disabled_at, session_used_at, key_used_at } = row
    const uses = [session_used_at, key_used_at].filter((time) => time !== null)
    const role = row.is_system === 1 ? 'system' : row.is_admin === 1 ? 'admin' : 'user'
    return {
      id,
      username,
      email,
      role,
      created_at,
      disabled_at,
      last_used_at: uses.sort().at(-1) ?? null,
      own_quota_bytes: row.quota_bytes,
      sessions_count: Number(row.sessions_count),
      usage: toUsage(row),
    }
  }

  return {
    async list() {
      return (await readRows(db)).map(toAdminUser)
    },

    async get(username) {
      const { id } = await find(username)
      const [row] = await readRows(db, id)
      if (!row) throw unknownUser(username)
      return toAdminUser(row)
    },

    async findUsage(id) {
      const [row] = await readRows(db, id)
      if (!row) throw notFound('this account no longer exists')
      return toUsage(row)
    },

    change: (username, { role, is_disabled, own_quota_bytes }, actor) =>
      withAccount(username, async (trx, account) => {
        if (role !== undefined) await setRole(trx, account, role, actor)
        if (is_disabled !== undefined) await setDisabled(trx, account, is_disabled, actor)
        if (own_quota_bytes !== undefined) await setQuota(trx, account, own_quota_bytes, actor)
        await requireAdmin(trx)
      }),

    async giveModels(username, to, actor) {
      const [from, newOwner] = [await find(username), await find(to)]
      requireNewOwner(from, newOwner)
      await db.transaction().execute(async (trx) => {
        await lockActiveAccount(trx, newOwner.id)
        await trx // the new owner needs no membership
          .deleteFrom('model_member')
          .where('account_id', '=', newOwner.id)
          .where('model_id', 'in', (models) =>
            models.selectFrom('model').select('id').where('owner', '=', from.username),
          )
          .execute()
        const given = await trx
          .updateTable('model')
          .set({
            owner: newOwner.username,
            visibility_version: sql`visibility_version + 1 - is_public`,
          })
          .where('owner', '=', from.username)
          .returning('name')
          .execute()
        for (const { name } of given) {
          const detail = { from: from.username, to: newOwner.username }
          await note(actor, 'model.owner_changed', model(name), detail)(trx)
        }
      })
    },

    async listModels(username) {
      const account = await find(username)
      return db
        .selectFrom('model')
        .select(['id', 'name'])
        .where('owner', '=', account.username)
        .orderBy('id')
        .execute()
    },

    async requireRemovable(username, { to, areDeleted }) {
      const account = await find(username)
      await requireAdmin(db, account.id)
      if (to !== undefined) requireNewOwner(account, await find(to))
      else if (!areDeleted) await refuseOwner(db, account.username)
    },

    remove: (username, actor) =>
      withAccount(username, async (trx, account) => {
        const { id } = account
        await refuseOwner(trx, account.username)
        await trx
          .updateTable('account')
          .set({
            removed_at: databaseTime(trx),
            disabled_at: account.disabled_at ?? databaseTime(trx),
            password_hash: null,
            email: null,
            is_admin: 0,
          })
          .where('id', '=', id)
          .execute()
        await requireAdmin(trx)
        await trx.deleteFrom('session').where('account_id', '=', id).execute()
        await trx.deleteFrom('api_key').where('account_id', '=', id).execute()
        await trx.deleteFrom('account_network').where('account_id', '=', id).execute()
        await invalidateLinks(trx, account)
        await trx.deleteFrom('model_member').where('account_id', '=', id).execute()
        await note(actor, 'account.removed', user(account.username))(trx)
      }),
  }
}

/** Returns the accounts that were not removed, oldest first. If `id` is given, returns only that account. */
async function readRows(db: Kysely<Database>, id?: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select id, username, email, is_admin, is_system, quota_bytes, created_at, disabled_at,
      (select max(last_used_at) from session where account_id = account.id) as session_used_at,
      (select max(last_used_at) from api_key where account_id = account.id) as key_used_at,
      (select count(*) from session where account_id = account.id and expires_at > ${databaseTime(db)}) as sessions_count,
      (select count(*) from api_key where account_id = account.id) as api_keys_count,
      (select count(*) from model where owner = account.username) as models_count,
      ${storedBytesOf(sql.ref('account.username'))} as stored_bytes
    from account
    where removed_at is null ${id === undefined ? sql`` : sql`and id = ${id}`}
    order by id`.execute(db)
  return rows
}

/**
 * Takes a lock that lets only one transaction at a time change which accounts are administrators. Otherwise, two
 * administrators could disable each other at the same time.
 */
async function lockAdmins(trx: Kysely<Database>) {
  await trx
    .updateTable('secret')
    .set({ value: sql`value` })
    .where('name', '=', firstAdminName)
    .execute()
}

/** Throws if there is no active administrator. The account with the ID `exceptId`, if given, does not count. */
async function requireAdmin(db: Kysely<Database>, exceptId?: string) {
  const admin = await db
    .selectFrom('account')
    .select('id')
    .where('is_admin', '=', 1)
    .where('disabled_at', 'is', null)
    .where('removed_at', 'is', null)
    .$if(exceptId !== undefined, (admins) => admins.where('id', '<>', exceptId ?? ''))
    .limit(1)
    .executeTakeFirst()
  if (admin) return
  throw conflict('this account is the last active administrator: appoint another one first', {
    code: 'last_admin',
  })
}

async function setRole(trx: Kysely<Database>, account: Account, role: Role, actor: Actor) {
  const isAdmin = role === 'admin' ? 1 : 0
  if (account.is_admin === isAdmin) return
  const { id, username } = account
  await trx.updateTable('account').set({ is_admin: isAdmin }).where('id', '=', id).execute()
  if (isAdmin === 0) await invalidateLinks(trx, account)
  await note(actor, 'account.role_changed', user(username), { role })(trx)
}

async function setDisabled(
  trx: Kysely<Database>,
  account: Account,
  isDisabled: boolean,
  actor: Actor,
) {
  if ((account.disabled_at !== null) === isDisabled) return
  const { id, username } = account
  const disabled_at = isDisabled ? databaseTime(trx) : null
  await trx.updateTable('account').set({ disabled_at }).where('id', '=', id).execute()
  if (isDisabled) {
    await trx.deleteFrom('session').where('account_id', '=', id).execute()
    await invalidateLinks(trx, account)
  }
  await note(actor, isDisabled ? 'account.disabled' : 'account.enabled', user(username))(trx)
}

async function setQuota(
  trx: Kysely<Database>,
  { id, username, quota_bytes }: Account,
  quotaBytes: number | null,
  actor: Actor,
) {
  if (quota_bytes === quotaBytes) return
  await trx.updateTable('account').set({ quota_bytes: quotaBytes }).where('id', '=', id).execute()
  const detail = { from_bytes: quota_bytes, to_bytes: quotaBytes }
  await note(actor, 'account.quota_changed', user(username), detail)(trx)
}

function requireNewOwner(from: Account, newOwner: Account) {
  if (from.id === newOwner.id)
    throw conflict(`the account ${newOwner.username} already owns these models`)
  requireActive(newOwner)
}

async function refuseOwner(trx: Kysely<Database>, username: string) {
  const { count } = await trx
    .selectFrom('model')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner', '=', username)
    .executeTakeFirstOrThrow()
  if (Number(count) === 0) return
  throw conflict(
    `the account ${username} owns ${count} ${Number(count) === 1 ? 'model' : 'models'}, which must first be given to another account or deleted`,
    { code: 'owns_models' },
  )
}

/** Invalidates all links to private files that the account could read, including those that other users have. */
async function invalidateLinks(trx: Kysely<Database>, { id, username, is_admin }: Account) {
  await trx
    .updateTable('model')
    .set({ visibility_version: sql`visibility_version + 1` })
    .where('is_public', '=', 0)
    .$if(is_admin === 0, (models) =>
      models.where((is) =>
        is.or([
          is('owner', '=', username),
          is(
            'id',
            'in',
            is.selectFrom('model_member').select('model_id').where('account_id', '=', id),
          ),
        ]),
      ),
    )
    .execute()
}
