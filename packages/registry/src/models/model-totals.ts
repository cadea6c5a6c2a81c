import type { Facets, Stats } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import {
  countEveryModel,
  countMatching,
  countPrivateModels,
  nothing,
  toFacets,
} from './count-facets.ts'
import { findMatches } from './find-matches.ts'
import { keptTotals } from './kept-totals.ts'
import { isSearch, type ModelFilter } from './model-filter.ts'

export interface ModelTotals {
  /** How many matching models have each architecture, license, tag and quantization. */
  facets(filter: ModelFilter, viewer: Viewer): Promise<FoundFacets>
  /** Totals of all public models. */
  stats(): Promise<Stats>
}

/** The number of fish in a picture of the registry. */
const maxParameterCounts = 240

type Options = {
  /** With more matches than this, the result is estimated from this many. */
  maxTotal?: number
}

type FoundFacets = { facets: Facets; isExact: boolean }

/** Totals and facet counts over models, cached if they are slow. */
export function modelTotals(
  db: Kysely<Database>,
  fullText: FullText,
  options: Options = {},
): ModelTotals {
  const kept = keptTotals()

  async function countFound(filter: ModelFilter, viewer: Viewer) {
    const found = await findMatches(db, filter, { fullText, viewer, ...options })
    return found === 'nothing' ? { counts: nothing, isExact: true } : countMatching(db, found)
  }

  return {
    async facets(filter: ModelFilter, viewer: Viewer): Promise<FoundFacets> {
      const { seesAll, username } = viewer
      if (isSearch(filter)) {
        const key = JSON.stringify([Object.entries(filter).sort(), seesAll, username])
        return kept.find(key, async () => {
          const { counts, isExact } = await countFound(filter, viewer)
          return { facets: toFacets(counts), isExact }
        })
      }
      const whose = seesAll ? 'all' : 'public'
      const counts = await kept.find(`facets of ${whose}`, () => countEveryModel(db, whose))
      const hasOwn = !seesAll && username !== undefined
      const own = hasOwn ? await countPrivateModels(db, username) : nothing
      return { facets: toFacets(counts, own), isExact: true }
    },

    stats: (): Promise<Stats> => kept.find('stats', countPublic),
  }

  async function countPublic(): Promise<Stats> {
    const sums = await db
      .selectFrom('model')
      .select(({ fn }) => [
        fn.countAll<number>().as('models'),
        sql<number>`cast(coalesce(sum(files_count), 0) as bigint)`.as('files'),
        sql<number>`cast(coalesce(sum(total_size_bytes), 0) as bigint)`.as('bytes'),
        sql<number>`cast(coalesce(sum(downloads), 0) as bigint)`.as('downloads'),
      ])
      .where('is_public', '=', 1)
      .executeTakeFirstOrThrow()
    const mostDownloaded = await db
      .selectFrom('model')
      .select('parameter_count')
      .where('is_public', '=', 1)
      .orderBy('downloads', 'desc')
      .orderBy('id', 'desc')
      .limit(maxParameterCounts)
      .execute()
    return { ...sums, parameter_counts: mostDownloaded.map((model) => model.parameter_count) }
  }
}
