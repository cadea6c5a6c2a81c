import type { Kysely } from 'kysely'
import type { Actor } from '../audit/actor.ts'
import { model, note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'

/** Maximum number of former names of a model, so that repeated renaming does not fill the database. */
export const maxFormerNames = 50

/** Returns the ID of the model that has this former name, or undefined if there is no such model or it was deleted. */
export async function findRenamedModel(
  db: Kysely<Database>,
  name: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('former_name')
    .select('model_id')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.model_id
}

/**
 * Removes a former name. Call this in the transaction in which a model takes the name, after the model has taken it.
 */
export async function takeName(trx: Kysely<Database>, name: string) {
  await trx.deleteFrom('former_name').where('name', '=', name).execute()
}

/**
 * Records the previous name of a renamed model. Call this in the transaction that renames the model, after the model
 * has taken its new name.
 */
export async function keepFormerName(
  trx: Kysely<Database>,
  { id, name }: { id: string; name: string },
  newName: string,
  actor: Actor,
) {
  await takeName(trx, newName)
  const former = { model_id: id, renamed_at: databaseTime(trx) }
  await trx
    .insertInto('former_name')
    .values({ name, ...former })
    // A node of an earlier version does not remove a former name when a model takes it.
    .onConflict((same) => same.column('name').doUpdateSet(former))
    .execute()
  const latest = trx
    .selectFrom('former_name')
    .select('name')
    .where('model_id', '=', id)
    .orderBy('renamed_at', 'desc')
    .orderBy('name')
    .limit(maxFormerNames)
  await trx
    .deleteFrom('former_name')
    .where('model_id', '=', id)
    .where('name', 'not in', latest)
    .execute()
  await note(actor, 'model.renamed', model(name), { to: newName })(trx)
}
