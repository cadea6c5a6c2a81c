import type { Model, ModelQuery } from '@shoal/protocol'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText, ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { countMatches, findMatches, type Matching } from './find-matches.ts'
import { type ListedRow, likesAmong, listedColumns, toModel } from './model-repository.ts'

export interface ModelList {
  /** One page of the matching models that the viewer may see, and their number. */
  list(query: ModelQuery, viewer: Viewer): Promise<ModelPage>
}

export type ModelPage = { models: Model[]; total: number; isTotalExact: boolean }

/** The list of models, with search, filters, order and totals. */
export function modelList(db: Kysely<Database>, fullText: FullText): ModelList {
  return {
    async list(query: ModelQuery, viewer: Viewer): Promise<ModelPage> {
      const found = await findMatches(db, query, { fullText, viewer })
      if (found === 'nothing') return { models: [], total: 0, isTotalExact: true }
      const { total, isTotalExact, matching, search } = found
      if (isTotalExact && total <= query.offset) return { models: [], total, isTotalExact }

      const rows =
        query.sort === 'relevance' && search
          ? await listByRelevance(db, matching, query, search)
          : await listPage(matching(), query)
      const liked = await likesAmong(
        db,
        rows.map(({ id }) => id),
        viewer,
      )
      const models = rows.map((row, at) => toModel(row, liked[at] ?? null))
      return { models, total, isTotalExact }
    },
  }
}

type Page = Pick<ModelQuery, 'sort' | 'order' | 'limit' | 'offset'>

function listPage(
  models: ReturnType<Matching>,
  { sort, order, limit, offset }: Page,
): Promise<ListedRow[]> {
  return models
    .select(listedColumns.map((column) => `model.${column}` as const))
    .orderBy(`model.${sort === 'relevance' ? 'downloads' : sort}`, order)
    .orderBy('model.id', order) // for a stable order across pages
    .limit(limit)
    .offset(offset)
    .execute()
}

/**
 * First the model with exactly this name, then models with the words in their names, then the others; each group by
 * downloads. The groups are read one after another in index order: scoring every match would take seconds.
 */
async function listByRelevance(
  db: Kysely<Database>,
  matching: Matching,
  query: ModelQuery,
  { matchesByName, matchesElsewhere }: ModelSearch,
): Promise<ListedRow[]> {
  const isName = sql<SqlBool>`model.name = ${query.q?.trim().toLowerCase()}`
  const tiers = [
    [isName],
    [sql<SqlBool>`not ${isName}`, matchesByName],
    [sql<SqlBool>`not ${isName}`, matchesElsewhere],
  ]
  if (query.order === 'asc') tiers.reverse()

  const rows: ListedRow[] = []
  let { offset } = query
  for (const tier of tiers) {
    const limit = query.limit - rows.length
    if (limit === 0) break
    if (offset > 0 && tier !== tiers.at(-1)) {
      const count = await countMatches(db, matching(...tier), offset + 1)
      if (count <= offset) {
        offset -= count // the whole tier is on earlier pages
        continue
      }
    }
    rows.push(...(await listPage(matching(...tier), { ...query, limit, offset })))
    offset = 0
  }
  return rows
}
