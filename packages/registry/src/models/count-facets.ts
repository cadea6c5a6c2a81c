import type { Facets } from '@shoal/protocol'
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { Database, ModelTable } from '../database/schema.ts'
import type { Matches } from './find-matches.ts'

const maxFacetValues = 100
/** Rarer values are not remembered across all models: there may be as many values as models. */
const maxCountedValues = 1_000
/** Maximum number of an account's private models to count. */
const maxPrivateModels = 10_000

const facetNames = ['architectures', 'licenses', 'tags', 'quantizations'] as const
type FacetName = (typeof facetNames)[number]
type ValueCount = { value: string; count: number }
/** The number of models with each value of each facet. */
export type Counts = Record<FacetName, ValueCount[]>

const columns = ['id', 'downloads', 'architecture', 'license', 'tags', 'quantizations'] as const
type Sampled = Pick<Selectable<ModelTable>, (typeof columns)[number]>

export const nothing: Counts = { architectures: [], licenses: [], tags: [], quantizations: [] }

/** Counts all models or all public models, using only indexes. */
export async function countEveryModel(
  db: Kysely<Database>,
  whose: 'all' | 'public',
): Promise<Counts> {
  const countValues = async (
    { table, column }: { table: string; column: string },
    condition = sql<SqlBool>`1 = 1`,
  ) => {
    const { rows } = await sql<ValueCount>`
      select ${sql.ref(column)} as value, count(*) as count from ${sql.table(table)}
      where ${sql.ref(column)} is not null and ${condition} group by ${sql.ref(column)}`.execute(db)
    return rows
  }
  const countInModels = (column: string) =>
    countValues({ table: 'model', column }, whose === 'all' ? undefined : sql`is_public = 1`)
  const countLabels = async (label: { table: string; column: string }) => {
    const all = await countValues(label)
    if (whose === 'all') return all
    // Subtract the few private models.
    const hidden = sql<SqlBool>`model_id in (select id from model where is_public = 0)`
    return added(all, await countValues(label, hidden), -1)
  }
  return {
    architectures: mostFrequent(await countInModels('architecture'), maxCountedValues),
    licenses: mostFrequent(await countInModels('license'), maxCountedValues),
    tags: mostFrequent(await countLabels({ table: 'model_tag', column: 'tag' }), maxCountedValues),
    quantizations: mostFrequent(
      await countLabels({ table: 'model_quantization', column: 'quantization' }),
      maxCountedValues,
    ),
  }
}

/** Counts the private models of an account. */
export async function countPrivateModels(db: Kysely<Database>, owner: string): Promise<Counts> {
  const models = await db
    .selectFrom('model')
    .select(columns)
    .where('owner', '=', owner)
    .where('is_public', '=', 0)
    .limit(maxPrivateModels)
    .execute()
  return countSampled(models)
}

/**
 * Counts the properties of matching models. With more than `maxExactTotal` matches, only that many, the most
 * downloaded, are counted and scaled to an estimate: reading every match of a common word would take seconds.
 */
export async function countMatching(
  db: Kysely<Database>,
  { total, isTotalExact, matching }: Matches,
): Promise<{ counts: Counts; isExact: boolean }> {
  const models = matching().select(columns.map((column) => `model.${column}` as const))
  if (isTotalExact) return { counts: countSampled(await models.execute()), isExact: true }
  const sampled = await models
    .orderBy('model.downloads', 'desc')
    .orderBy('model.id', 'desc')
    .limit(total)
    .execute()
  const scale = await computeScale(db, sampled.at(-1))
  return { counts: countSampled(sampled, scale), isExact: false }
}

function countSampled(sampled: Sampled[], scale = 1): Counts {
  const found = Object.fromEntries(
    facetNames.map((name) => [name, new Map<string, number>()]),
  ) as Record<FacetName, Map<string, number>>
  const add = (name: FacetName, value: string | null) => {
    if (value !== null) found[name].set(value, (found[name].get(value) ?? 0) + 1)
  }
  for (const { architecture, license, tags, quantizations } of sampled) {
    add('architectures', architecture)
    add('licenses', license)
    for (const tag of JSON.parse(tags)) add('tags', tag)
    for (const label of JSON.parse(quantizations)) add('quantizations', label)
  }
  const toCounts = (name: FacetName) =>
    [...found[name]].map(([value, count]) => ({ value, count: Math.round(count * scale) }))
  return forEachFacet(toCounts)
}

/** The ratio of all models to those with at least the downloads of the last sampled one. */
async function computeScale(db: Kysely<Database>, last: Sampled | undefined): Promise<number> {
  if (!last) return 1
  const { rows } = await sql<{ all_models: number; passed: number }>`
    select (select count(*) from model) as all_models,
      (select count(*) from model where (downloads, id) >= (${last.downloads}, ${last.id})) as passed`.execute(
    db,
  )
  const { all_models, passed } = rows[0] ?? { all_models: 1, passed: 1 }
  return all_models / Math.max(1, passed)
}

/** Adds up these counts and returns the most frequent values. */
export function toFacets(...counts: Counts[]): Facets {
  return forEachFacet((name) => {
    const sum = counts.reduce<ValueCount[]>((sum, one) => added(sum, one[name], 1), [])
    return mostFrequent(sum, maxFacetValues)
  })
}

function forEachFacet<T>(compute: (name: FacetName) => T): Record<FacetName, T> {
  return {
    architectures: compute('architectures'),
    licenses: compute('licenses'),
    tags: compute('tags'),
    quantizations: compute('quantizations'),
  }
}

function added(counts: ValueCount[], others: ValueCount[], sign: 1 | -1): ValueCount[] {
  const sums = new Map(counts.map(({ value, count }) => [value, count]))
  for (const { value, count } of others) sums.set(value, (sums.get(value) ?? 0) + sign * count)
  return [...sums].map(([value, count]) => ({ value, count })).filter(({ count }) => count > 0)
}

function mostFrequent(counts: ValueCount[], maxValues: number): ValueCount[] {
  return counts
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, maxValues)
}
