import { type Kysely, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import { lockModel } from './lock-model.ts'

/** Which accounts like which models. */
export interface LikeRepository {
  /**
   * Toggles whether this account likes the model. Even with concurrent calls, `likes` equals the number of accounts
   * that like the model.
   * @throws not-found if the model no longer exists
   */
  toggle(modelId: string, accountId: string): Promise<void>
  /**
   * Sets whether this account likes the model. Repeating the call changes nothing.
   * @throws not-found if the model no longer exists
   */
  set(modelId: string, accountId: string, liked: boolean): Promise<void>
}

export function likeRepository(db: Kysely<Database>): LikeRepository {
  return {
    toggle: (modelId: string, accountId: string) =>
      writeLike(db, modelId, async (trx) => {
        const isNew = await insertLike(trx, modelId, accountId)
        if (isNew) return 1
        return -(await deleteLike(trx, modelId, accountId))
      }),

    set: (modelId: string, accountId: string, liked: boolean) =>
      writeLike(db, modelId, async (trx) =>
        liked
          ? Number(await insertLike(trx, modelId, accountId))
          : -(await deleteLike(trx, modelId, accountId)),
      ),
  }
}

/** Returns for each of these models whether the viewer likes it; null for each if the viewer is not signed in. */
export async function likesAmong(
  db: Kysely<Database>,
  modelIds: string[],
  { accountId }: Viewer,
): Promise<(boolean | null)[]> {
  if (accountId === undefined) return modelIds.map(() => null)
  if (modelIds.length === 0) return []
  const rows = await db
    .selectFrom('model_like')
    .select('model_id')
    .where('account_id', '=', accountId)
    .where('model_id', 'in', modelIds)
    .execute()
  const liked = new Set(rows.map((row) => row.model_id))
  return modelIds.map((id) => liked.has(id))
}

/** Runs `change`, which adds or removes a like, and adds its result (1, 0 or −1) to the model's like count. */
function writeLike(
  db: Kysely<Database>,
  modelId: string,
  change: (trx: Kysely<Database>) => Promise<number>,
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    await lockModel(trx, modelId)
    const difference = await change(trx)
    if (difference === 0) return
    await trx
      .updateTable('model')
      .set({ likes: sql`likes + ${difference}` })
      .where('id', '=', modelId)
      .execute()
  })
}

async function insertLike(trx: Kysely<Database>, modelId: string, accountId: string) {
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('model_like')
    .values({ model_id: modelId, account_id: accountId, created_at: databaseTime(trx) })
    .onConflict((exists) => exists.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

async function deleteLike(trx: Kysely<Database>, modelId: string, accountId: string) {
  const { numDeletedRows } = await trx
    .deleteFrom('model_like')
    .where('model_id', '=', modelId)
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
