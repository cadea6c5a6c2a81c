import type { Model, ModelQuery } from '@shoal/protocol'
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText, ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { filtered, isNarrowed } from './model-filter.ts'
import { type ListedRow, likesAmong, listedColumns, toModel } from './model-repository.ts'

export type ModelList = ReturnType<typeof modelList>
export type ModelPage = { models: Model[]; total: number; isTotalExact: boolean }

/** Matches are counted up to here. */
const exactTotalAtMost = 10_000
/** So many are sorted sooner than found by walking through all others. */
const fewModels = 1_000

/** The list of models: search, filters, order and totals. */
export function modelList(db: Kysely<Database>, fullText: FullText) {
  return {
    /** One page of the models that match, and how many there are. */
    async list(query: ModelQuery, viewer: Viewer): Promise<ModelPage> {
      const search = query.q?.trim() ? await fullText.search(db, query.q) : undefined
      if (search === 'nothing') return { models: [], total: 0, isTotalExact: true }

      const total = (await isBeyondCount(db, query, viewer, search))
        ? exactTotalAtMost + 1
        : await count(db, filtered(db, query, viewer, search), exactTotalAtMost + 1)
      const isTotalExact = total <= exactTotalAtMost
      if (isTotalExact && total <= query.offset) return { models: [], total, isTotalExact }
      const readBy = total > fewModels ? 'order' : 'filters'
      const matching: Matching = (...conditions) =>
        conditions.reduce(
          (models, condition) => models.where(condition),
          filtered(db, query, viewer, search, readBy),
        )
      const rows =
        query.sort === 'relevance' && search
          ? await listByRelevance(db, matching, query, search)
          : await listPage(matching(), query)
      const liked = await likesAmong(
        db,
        rows.map(({ id }) => id),
        viewer,
      )
      return {
        models: rows.map((row, at) => toModel(row, liked[at] ?? null)),
        total: isTotalExact ? total : exactTotalAtMost,
        isTotalExact,
      }
    },
  }
}

/** The models that match the query and these conditions. */
type Matching = (...conditions: Expression<SqlBool>[]) => ReturnType<typeof filtered>
type Page = Pick<ModelQuery, 'sort' | 'order' | 'limit' | 'offset'>

async function count(
  db: Kysely<Database>,
  models: ReturnType<Matching>,
  atMost: number,
): Promise<number> {
  const some = models.select(sql`1`.as('one')).limit(atMost)
  const { total } = await db
    .selectFrom(some.as('matching'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/**
 * Whether a search alone shows that there are more models than are counted: it has so many matches that those which are
 * private cannot matter. Counting them would take longer than the page itself.
 */
async function isBeyondCount(
  db: Kysely<Database>,
  query: ModelQuery,
  viewer: Viewer,
  search: ModelSearch | undefined,
): Promise<boolean> {
  if (!search || search.countAtLeast <= exactTotalAtMost || isNarrowed(query)) return false
  if (viewer.seesAll) return true
  const { hidden } = await db
    .selectFrom('model')
    .select(({ fn }) => fn.countAll<number>().as('hidden'))
    .where('is_public', '=', 0)
    .executeTakeFirstOrThrow()
  return search.countAtLeast - hidden > exactTotalAtMost
}

function listPage(
  models: ReturnType<Matching>,
  { sort, order, limit, offset }: Page,
): Promise<ListedRow[]> {
  return models
    .select(listedColumns.map((column) => `model.${column}` as const))
    .orderBy(`model.${sort === 'relevance' ? 'downloads' : sort}`, order)
    .orderBy('model.id', order) // ties keep their place from page to page
    .limit(limit)
    .offset(offset)
    .execute()
}

/**
 * First the model of that very name, then those with the words in their names, then the others; within each, the most
 * downloaded first. Read one after another, each in the order of an index: scoring every match would take seconds.
 */
async function listByRelevance(
  db: Kysely<Database>,
  matching: Matching,
  query: ModelQuery,
  { matchesByName }: ModelSearch,
): Promise<ListedRow[]> {
  const isName = sql<SqlBool>`model.name = ${query.q?.trim().toLowerCase()}`
  const tiers = [
    [isName],
    [sql<SqlBool>`not ${isName}`, matchesByName],
    [sql<SqlBool>`not ${isName}`, sql<SqlBool>`not (${matchesByName})`],
  ]
  if (query.order === 'asc') tiers.reverse()

  const rows: ListedRow[] = []
  let { offset } = query
  for (const tier of tiers) {
    const limit = query.limit - rows.length
    if (limit === 0) break
    const found = await listPage(matching(...tier), { ...query, limit, offset })
    rows.push(...found)
    if (found.length > 0 || offset === 0) offset = 0
    else offset -= await count(db, matching(...tier), offset) // the whole tier lies before the page
  }
  return rows
}
