import { type Kysely, type Selectable, sql } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import { unknownModel } from '../errors.ts'

/**
 * Locks the model's row until the transaction ends, and returns the row. Call this before writing a model, its files or
 * its likes. Concurrent writers then take turns, each one sees all earlier changes, and none writes to a deleted model.
 * The row is locked by an update that changes nothing, because SQLite has no `for update`.
 */
export function lockModel(trx: Kysely<Database>, modelId: string): Promise<Selectable<ModelTable>> {
  return trx
    .updateTable('model')
    .set({ likes: sql`likes` })
    .where('id', '=', modelId)
    .returningAll()
    .executeTakeFirstOrThrow(() => unknownModel(modelId))
}
