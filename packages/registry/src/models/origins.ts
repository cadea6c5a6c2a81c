/** Where the values of a model's fields come from: from the user, from the files' headers, or from the card. */
import type { ModelChanges } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import { type CardDetails, readCardDetails } from './card-details.ts'
import { type Filled, fillFromCard } from './fill-from-card.ts'

type FilledRow = { id: string } & Pick<ModelTable, 'license' | 'tags' | 'set_by_hand'>

/** Fields that are filled in from files unless they were set by hand. */
export const factFields = ['architecture', 'parameter_count', 'context_length'] as const

/**
 * Returns the names of the facts that are set by hand after these changes. A fact that is changed to null is filled in
 * from the files again.
 */
export function setByHand({ set_by_hand }: FilledRow, changes: ModelChanges): string[] {
  const before: string[] = JSON.parse(set_by_hand)
  return factFields.filter((field) =>
    changes[field] === undefined ? before.includes(field) : changes[field] !== null,
  )
}

/** In `set_by_hand`, the prefix of the names of fields whose values are taken from the card. */
const cardPrefix = 'card:'

export const formatOrigins = (byHand: readonly string[], { fromCard }: Filled): string =>
  JSON.stringify([...byHand, ...fromCard.map((field) => cardPrefix + field)])

export const nothing: Filled = { license: null, tags: [], fromCard: [] }

/** Returns the license and tags after these changes, which may include a new card. */
export async function fillAgain(
  trx: Kysely<Database>,
  row: FilledRow,
  { license, tags, readme }: ModelChanges,
): Promise<Filled> {
  const origins: string[] = JSON.parse(row.set_by_hand)
  const fromCard = origins.flatMap((origin) =>
    origin.startsWith(cardPrefix) ? origin.slice(cardPrefix.length) : [],
  )
  const stored = { license: row.license, tags: JSON.parse(row.tags) as string[], fromCard }
  const written = {
    ...(license !== undefined && { license }),
    ...(tags && { tags: distinct(tags) }),
  }
  return fillFromCard(stored, written, await readCard(trx, row.id, readme))
}

/** Reads the details from `readme`, or from the stored card if `readme` is undefined. */
async function readCard(
  trx: Kysely<Database>,
  modelId: string,
  readme: string | null | undefined,
): Promise<CardDetails> {
  if (readme !== undefined) return readCardDetails(readme)
  const card = await trx
    .selectFrom('model_card')
    .select('readme')
    .where('model_id', '=', modelId)
    .executeTakeFirst()
  return readCardDetails(card?.readme ?? null)
}

/** Removes tags that would become duplicates in the database, which stores every unpaired surrogate as U+FFFD. */
export function distinct(tags: string[]): string[] {
  return [...new Set(tags.map((tag) => tag.toWellFormed()))]
}
export async function writeCard(trx: Kysely<Database>, modelId: string, readme: string | null) {
  await trx.deleteFrom('model_card').where('model_id', '=', modelId).execute()
  if (readme === null) return
  await trx.insertInto('model_card').values({ model_id: modelId, readme }).execute()
}
