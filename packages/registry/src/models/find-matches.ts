import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText, ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import {
  type Conditions,
  filtered,
  isNarrowed,
  type ModelFilter,
  resolveConditions,
} from './model-filter.ts'

/** Matches are counted up to this number. */
export const maxExactTotal = 10_000
/** Up to this many matches, sorting them is faster than reading all models in order. */
const fewModels = 1_000

/** A query of the matching models. Conditions that already imply the search replace it. */
export type Matching = (...conditions: Expression<SqlBool>[]) => ReturnType<typeof filtered>

export type Matches = {
  /** The number of matches, at most `maxTotal`. */
  total: number
  /** False if there are more than `total`. */
  isTotalExact: boolean
  /** Queries the matches, using the index that suits their number. */
  matching: Matching
  search: ModelSearch | undefined
}

type Options = { fullText: FullText; viewer: Viewer; maxTotal?: number }

/** Searches, and counts the matches up to a limit. */
export async function findMatches(
  db: Kysely<Database>,
  filter: ModelFilter,
  { fullText, viewer, maxTotal = maxExactTotal }: Options,
): Promise<Matches | 'nothing'> {
  const search = filter.q?.trim() ? await fullText.search(db, filter.q) : undefined
  if (search === 'nothing') return 'nothing'
  const conditions = await resolveConditions(db, { filter, viewer, search })

  const counted = (await isBeyondCount(db, conditions, maxTotal))
    ? maxTotal + 1
    : await countMatches(db, filtered(db, conditions), maxTotal + 1)
  const readBy = counted > fewModels ? 'order' : 'filters'
  return {
    total: Math.min(counted, maxTotal),
    isTotalExact: counted <= maxTotal,
    search,
    matching: (...narrower) =>
      narrower.reduce(
        (models, condition) => models.where(condition),
        filtered(
          db,
          narrower.length > 0 ? { ...conditions, search: undefined } : conditions,
          readBy,
        ),
      ),
  }
}

export async function countMatches(
  db: Kysely<Database>,
  models: ReturnType<Matching>,
  maxCount: number,
): Promise<number> {
  const some = models.select(sql`1`.as('one')).limit(maxCount)
  const { total } = await db
    .selectFrom(some.as('matching'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/**
 * Whether the search alone shows that there are more models than are counted: it has so many matches that private
 * models cannot change that. Counting them would take longer than loading the page.
 */
async function isBeyondCount(
  db: Kysely<Database>,
  { filter, viewer, search }: Conditions,
  maxTotal: number,
): Promise<boolean> {
  if (!search || search.minCount <= maxTotal || isNarrowed(filter)) return false
  if (viewer.seesAll) return true
  const { hidden } = await db
    .selectFrom('model')
    .select(({ fn }) => fn.countAll<number>().as('hidden'))
    .where('is_public', '=', 0)
    .executeTakeFirstOrThrow()
  return search.minCount - hidden > maxTotal
}
