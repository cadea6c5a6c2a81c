import { hasCode } from '@shoal/core/errors'
import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import type { ModelRepository } from './model-repository.ts'

/** The entry in `secret` that contains the ID of the last model whose card was read, or `all` if all were read. */
export const progressName = 'cards-read'
const all = 'all'

/** Maximum number of models per call. The number is low, so that other writes do not have to wait long. */
const maxModels = 50

/**
 * Fills in the empty fields of models whose cards were stored by a version that did not read front matter. Returns a
 * function to be called repeatedly. Each call reads the cards of up to `maxModels` models, and the next call continues
 * with the following models, even after a restart. Once all cards have been read, calls do nothing. Several nodes may
 * do this at the same time, because reading a card again changes nothing.
 */
export function fillFromCards(
  db: Kysely<Database>,
  models: Pick<ModelRepository, 'readCardAgain'>,
) {
  let isDone = false

  return async (): Promise<void> => {
    if (isDone) return
    const progress = await db
      .selectFrom('secret')
      .select('value')
      .where('name', '=', progressName)
      .executeTakeFirst()
    if (progress?.value === all) {
      isDone = true
      return
    }
    const rows = await db
      .selectFrom('model')
      .innerJoin('model_card', 'model_card.model_id', 'model.id')
      .select('model.id')
      .where('model.id', '>', progress?.value ?? '')
      .where((is) => is.or([is('license', 'is', null), is('tags', '=', '[]')]))
      .where((is) => is.or([is('readme', 'like', '---%'), is('readme', 'like', '\uFEFF---%')]))
      .orderBy('model.id')
      .limit(maxModels)
      .execute()
    for (const { id } of rows) {
      await models.readCardAgain(id).catch((error: unknown) => {
        if (!hasCode(error, 'not_found')) throw error // otherwise, the model has just been deleted
      })
    }
    const last = rows.length < maxModels ? undefined : rows.at(-1)
    const value = last?.id ?? all
    await db
      .insertInto('secret')
      .values({ name: progressName, value })
      .onConflict((known) => known.column('name').doUpdateSet({ value }))
      .execute()
  }
}
