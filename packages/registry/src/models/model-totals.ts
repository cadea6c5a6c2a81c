import type { Facets, Stats } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { filtered, type ModelFilter } from './model-filter.ts'

export type ModelTotals = ReturnType<typeof modelTotals>

const facetValuesAtMost = 100
/** Totals over very many models are kept for this many times as long as they took: exact where they are cheap. */
const keptTimes = 50
const keptAtMost = 200

/** What a list says of itself as a whole: how many models have which property, and sums. */
export function modelTotals(db: Kysely<Database>, fullText: FullText) {
  const kept = new Map<string, { until: number; value: unknown }>()

  async function keeping<T>(key: string, compute: () => Promise<T>): Promise<T> {
    const found = kept.get(key)
    if (found && performance.now() < found.until) return found.value as T
    const startedAt = performance.now()
    const value = await compute()
    const now = performance.now()
    kept.delete(key)
    if (now - startedAt > 20) kept.set(key, { until: now + (now - startedAt) * keptTimes, value })
    if (kept.size > keptAtMost) kept.delete(kept.keys().next().value ?? '')
    return value
  }

  async function countFacets(filter: ModelFilter, viewer: Viewer): Promise<Facets> {
    const search = filter.q?.trim() ? await fullText.search(db, filter.q) : undefined
    if (search === 'nothing') {
      return { architectures: [], licenses: [], tags: [], quantizations: [] }
    }
    const matching = () => filtered(db, filter, viewer, search)
    const ofColumn = (column: 'architecture' | 'license') =>
      matching()
        .where(`model.${column}`, 'is not', null)
        .select(({ fn }) => [
          sql<string>`${sql.ref(`model.${column}`)}`.as('value'),
          fn.countAll<number>().as('count'),
        ])
        .groupBy(`model.${column}`)
    const ofTags = matching()
      .innerJoin('model_tag', 'model_tag.model_id', 'model.id')
      .select(({ fn }) => ['model_tag.tag as value', fn.countAll<number>().as('count')])
      .groupBy('model_tag.tag')
    const ofQuantizations = matching()
      .innerJoin('file', 'file.model_id', 'model.id')
      .where('file.status', '=', 'ready')
      .where('file.quantization', 'is not', null)
      .select(({ fn }) => [
        sql<string>`file.quantization`.as('value'),
        fn.count<number>('model.id').distinct().as('count'),
      ])
      .groupBy('file.quantization')

    const mostFrequent = (values: ReturnType<typeof ofColumn>) =>
      values.orderBy('count', 'desc').orderBy('value').limit(facetValuesAtMost).execute()
    return {
      architectures: await mostFrequent(ofColumn('architecture')),
      licenses: await mostFrequent(ofColumn('license')),
      tags: await mostFrequent(ofTags as unknown as ReturnType<typeof ofColumn>),
      quantizations: await mostFrequent(ofQuantizations as unknown as ReturnType<typeof ofColumn>),
    }
  }

  return {
    /** How many of the matching models have which architecture, license, tag and quantization. */
    facets: (filter: ModelFilter, viewer: Viewer): Promise<Facets> =>
      keeping(JSON.stringify([filter, viewer]), () => countFacets(filter, viewer)),

    /** Totals of what is public. */
    stats: (): Promise<Stats> =>
      keeping('stats', () =>
        db
          .selectFrom('model')
          .select(({ fn }) => [
            fn.countAll<number>().as('models'),
            sql<number>`cast(coalesce(sum(files_count), 0) as bigint)`.as('files'),
            sql<number>`cast(coalesce(sum(total_size_bytes), 0) as bigint)`.as('bytes'),
            sql<number>`cast(coalesce(sum(downloads), 0) as bigint)`.as('downloads'),
          ])
          .where('is_public', '=', 1)
          .executeTakeFirstOrThrow(),
      ),
  }
}
