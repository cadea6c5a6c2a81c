import type { Member, MemberRight } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { lockActiveAccount } from '../accounts/lock-account.ts'
import type { Actor } from '../audit/actor.ts'
import { model as modelSubject, note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import { conflict, notFound, unknownUser } from '../errors.ts'
import { lockModel } from './lock-model.ts'
import type { ModelRow } from './model-repository.ts'

/** The accounts that can read or change a private model in addition to its owner. */
export interface MemberRepository {
  /** Returns the members, sorted by username. */
  list(modelId: string): Promise<Member[]>
  /**
   * Makes an account a member, or changes its right.
   * @throws not-found if there is no such account; conflict if the account is not active or owns the model
   */
  set(model: ModelRow, username: string, right: MemberRight, actor: Actor): Promise<Member>
  /**
   * Ends a membership. Links to the model's private files become invalid for everyone who has them, because the member
   * may have passed them on.
   * @throws not-found if the account is not a member
   */
  remove(model: ModelRow, username: string, actor: Actor): Promise<void>
  /**
   * Makes another account the owner. The previous owner becomes a member who can read. Does nothing if the account is
   * already the owner.
   * @throws not-found if there is no such account; conflict if the account is not active
   */
  transfer(model: ModelRow, username: string, actor: Actor): Promise<void>
}

export function memberRepository(db: Kysely<Database>): MemberRepository {
  async function findAccount(username: string) {
    const account = await db
      .selectFrom('account')
      .select(['id', 'username'])
      .where('username', '=', username.toLowerCase())
      .where('removed_at', 'is', null)
      .executeTakeFirst()
    if (!account) throw unknownUser(username)
    return account
  }

  return {
    async list(modelId) {
      const rows = await db
        .selectFrom('model_member')
        .innerJoin('account', 'account.id', 'model_member.account_id')
        .select(['username', 'can_write', 'model_member.created_at'])
        .where('model_id', '=', modelId)
        .orderBy('username')
        .execute()
      return rows.map(({ username, can_write, created_at }) => ({
        username,
        right: can_write === 1 ? 'write' : 'read',
        created_at,
      }))
    },

    async set(model, username, right, actor) {
      const { id } = await findAccount(username)
      return db.transaction().execute(async (trx): Promise<Member> => {
        const account = await lockActiveAccount(trx, id)
        const { owner, name } = await lockOwned(trx, model)
        if (owner === account.username) throw conflict(`the account ${owner} owns ${name}`)
        const can_write = right === 'write' ? 1 : 0
        const known = await trx
          .selectFrom('model_member')
          .select(['can_write', 'created_at'])
          .where('model_id', '=', model.id)
          .where('account_id', '=', id)
          .executeTakeFirst()
        const member = { username: account.username, right }
        if (known?.can_write === can_write) return { ...member, created_at: known.created_at }
        const { created_at } = await trx
          .insertInto('model_member')
          .values({
            model_id: model.id,
            account_id: id,
            can_write,
            created_at: databaseTime(trx),
          })
          .onConflict((same) => same.columns(['model_id', 'account_id']).doUpdateSet({ can_write }))
          .returning('created_at')
          .executeTakeFirstOrThrow()
        await noteChange(trx, model.id, 0)
        const detail = { member: account.username, right }
        await note(actor, 'model.member_set', modelSubject(name), detail)(trx)
        return { ...member, created_at }
      })
    },

    async remove(model, username, actor) {
      const account = await findAccount(username)
      await db.transaction().execute(async (trx) => {
        const { name } = await lockOwned(trx, model)
        const { numDeletedRows } = await trx
          .deleteFrom('model_member')
          .where('model_id', '=', model.id)
          .where('account_id', '=', account.id)
          .executeTakeFirst()
        if (numDeletedRows === 0n)
          throw notFound(`the account ${account.username} is not a member of ${name}`)
        await noteChange(trx, model.id, 1)
        const detail = { member: account.username }
        await note(actor, 'model.member_removed', modelSubject(name), detail)(trx)
      })
    },

    async transfer(model, username, actor) {
      const { id } = await findAccount(username)
      await db.transaction().execute(async (trx) => {
        const newOwner = await lockActiveAccount(trx, id)
        const { owner, name } = await lockOwned(trx, model)
        if (owner === newOwner.username) return
        const previous = await trx
          .selectFrom('account')
          .select('id')
          .where('username', '=', owner)
          .where('removed_at', 'is', null)
          .executeTakeFirst()
        await trx
          .deleteFrom('model_member')
          .where('model_id', '=', model.id)
          .where('account_id', '=', newOwner.id)
          .execute()
        if (previous) {
          await trx
            .insertInto('model_member')
            .values({
              model_id: model.id,
              account_id: previous.id,
              can_write: 0,
              created_at: databaseTime(trx),
            })
            .onConflict((same) =>
              same.columns(['model_id', 'account_id']).doUpdateSet({ can_write: 0 }),
            )
            .execute()
        }
        await trx
          .updateTable('model')
          .set({ owner: newOwner.username })
          .where('id', '=', model.id)
          .execute()
        const detail = { from: owner, to: newOwner.username }
        await note(actor, 'model.owner_changed', modelSubject(name), detail)(trx)
      })
    },
  }
}

/** Locks the model. Throws if its owner has changed since the caller's rights were checked. */
async function lockOwned(trx: Kysely<Database>, { id, owner }: ModelRow) {
  const row = await lockModel(trx, id)
  if (row.owner !== owner) throw conflict(`the owner of ${row.name} has just changed: try again`)
  return row
}

/**
 * Makes all nodes read the model and its members again. `versions` is added to the version number in links to private
 * files; 1 invalidates the existing links.
 */
async function noteChange(trx: Kysely<Database>, modelId: string, versions: 0 | 1) {
  await trx
    .updateTable('model')
    .set({
      is_public: sql`is_public`, // triggers record an update of this column as a change
      visibility_version: sql`visibility_version + ${sql.lit(versions)}`,
    })
    .where('id', '=', modelId)
    .execute()
}
