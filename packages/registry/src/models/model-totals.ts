import type { Facets, Stats } from '@shoal/protocol'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { filtered, isNarrowed, type ModelFilter } from './model-filter.ts'
import { visibleTo } from './visibility.ts'

export type ModelTotals = ReturnType<typeof modelTotals>
type Count = { value: string; count: number }

const facetValuesAtMost = 100
/** A picture of the registry has so many fish. */
const parameterCountsAtMost = 240
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
    const isEverything = search === undefined && !isNarrowed(filter)

    const countColumn = (column: 'architecture' | 'license'): Promise<Count[]> =>
      matching()
        .where(`model.${column}`, 'is not', null)
        .select(({ fn }) => [
          sql<string>`${sql.ref(`model.${column}`)}`.as('value'),
          fn.countAll<number>().as('count'),
        ])
        .groupBy(`model.${column}`)
        .execute()

    async function countLabels(label: Label): Promise<Count[]> {
      if (!isEverything) return countOf(label, sql`model_id in (${matching().select('model.id')})`)
      // Of everything the few that are hidden are taken off: an index counts the rest without a look at the models.
      const hidden = await countOf(
        label,
        sql`model_id in (select id from model where is_public = 0 and not (${visibleTo(viewer)}))`,
      )
      const hiddenOf = new Map(hidden.map(({ value, count }) => [value, count]))
      const all = await countOf(label, sql`1 = 1`)
      return all
        .map(({ value, count }) => ({ value, count: count - (hiddenOf.get(value) ?? 0) }))
        .filter(({ count }) => count > 0)
    }

    return {
      architectures: mostFrequent(await countColumn('architecture')),
      licenses: mostFrequent(await countColumn('license')),
      tags: mostFrequent(await countLabels({ table: 'model_tag', column: 'tag' })),
      quantizations: mostFrequent(
        await countLabels({ table: 'model_quantization', column: 'quantization' }),
      ),
    }
  }

  type Label =
    | { table: 'model_tag'; column: 'tag' }
    | { table: 'model_quantization'; column: 'quantization' }

  async function countOf(
    { table, column }: Label,
    condition: ReturnType<typeof sql<SqlBool>>,
  ): Promise<Count[]> {
    const { rows } = await sql<Count>`
      select ${sql.ref(column)} as value, count(*) as count
      from ${sql.table(table)} where ${condition} group by ${sql.ref(column)}`.execute(db)
    return rows
  }

  return {
    /** How many of the matching models have which architecture, license, tag and quantization. */
    facets: (filter: ModelFilter, viewer: Viewer): Promise<Facets> =>
      keeping(JSON.stringify([filter, viewer]), () => countFacets(filter, viewer)),

    /** Totals of what is public. */
    stats: (): Promise<Stats> =>
      keeping('stats', async () => {
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
          .limit(parameterCountsAtMost)
          .execute()
        const parameter_counts = mostDownloaded.map(({ parameter_count }) => parameter_count)
        return { ...sums, parameter_counts }
      }),
  }
}

function mostFrequent(counts: Count[]): Count[] {
  return counts
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, facetValuesAtMost)
}
