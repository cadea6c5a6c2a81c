import { type Kysely, type Selectable, sql } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import { notFound } from '../errors.ts'

/**
 * Locks the model's row until the transaction ends, and returns its current state. Taken before a model, its files or
 * its likes are written, so that concurrent writers take turns, each sees the previous one's changes, and none writes
 * after a deletion. An update without changes locks the row on both engines; SQLite has no `for update`.
 */
export function lockModel(trx: Kysely<Database>, modelId: string): Promise<Selectable<ModelTable>> {
  return trx
    .updateTable('model')
    .set({ likes: sql`likes` })
    .where('id', '=', modelId)
    .returningAll()
    .executeTakeFirstOrThrow(() => notFound(`no model ${modelId}`))
}
