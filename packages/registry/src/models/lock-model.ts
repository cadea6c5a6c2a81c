import { type Kysely, type Selectable, sql } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import { notFound } from '../errors.ts'

/**
 * The model's row as it is now, held until the transaction ends. Whoever writes a model, its files or its likes takes it
 * first, so that racing writers take turns, each sees what the one before it wrote, and none is left after a deletion.
 * An update that changes nothing locks on both engines; SQLite has no `for update`.
 */
export function lockModel(trx: Kysely<Database>, modelId: string): Promise<Selectable<ModelTable>> {
  return trx
    .updateTable('model')
    .set({ likes: sql`likes` })
    .where('id', '=', modelId)
    .returningAll()
    .executeTakeFirstOrThrow(() => notFound(`no model ${modelId}`))
}
