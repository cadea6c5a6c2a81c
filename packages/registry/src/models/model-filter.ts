import type { ModelQuery } from '@shoal/protocol'
import { type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { visibleTo } from './visibility.ts'

export type ModelFilter = Omit<ModelQuery, 'limit' | 'offset' | 'sort' | 'order'>

/**
 * How SQLite is to find models: from what the filters name, which is best to count and where there are few, or by a look at
 * each in the order of the page, which ends soon where there are many. PostgreSQL knows by itself.
 */
export type ReadBy = 'filters' | 'order'

/** A tag or a quantization that models must have. */
export type Label = {
  column: 'tag' | 'quantization'
  value: string
  /** Models with this label, counted up to `maxRead`. */
  count: number
}

/** So many models with a label, or in a range of sizes, are found sooner among all models than by reading these. */
const maxRead = 50_000

type SizeColumn = 'parameter_count' | 'min_file_size_bytes' | 'min_memory_bytes'

/** What a filter asks for, and what is worth knowing about it before. */
export type Conditions = {
  filter: ModelFilter
  viewer: Viewer
  search: ModelSearch | undefined
  /** Each once, the rarest first. */
  labels: Label[]
  /** Sizes whose range holds so many models that their index is no help. */
  wideRanges: ReadonlySet<SizeColumn>
}

/** Looks at how many models each part of the filter has, up to a bound: SQLite does not know. */
export async function resolveConditions(
  db: Kysely<Database>,
  wanted: Pick<Conditions, 'filter' | 'viewer' | 'search'>,
): Promise<Conditions> {
  const { filter } = wanted
  const labels: Label[] = []
  for (const { column, value } of namedLabels(filter)) {
    const count = await countSome(
      db,
      sql`${sql.table(`model_${column}`)} where ${sql.ref(column)} = ${value}`,
    )
    labels.push({ column, value, count })
  }
  const wideRanges = new Set<SizeColumn>()
  for (const [column, conditions] of toRanges(filter, (column) => sql.ref(`model.${column}`))) {
    const count = await countSome(db, sql`model where ${sql.join(conditions, sql` and `)}`)
    if (count === maxRead) wideRanges.add(column)
  }
  return { ...wanted, labels: labels.sort((a, b) => a.count - b.count), wideRanges }
}

function namedLabels({ tag = [], quantization }: ModelFilter): Omit<Label, 'count'>[] {
  const tags = [...new Set(tag)].map((value) => ({ column: 'tag' as const, value }))
  if (quantization === undefined) return tags
  return [...tags, { column: 'quantization', value: quantization }]
}

async function countSome(db: Kysely<Database>, rows: RawBuilder<unknown>): Promise<number> {
  const { rows: found } = await sql<{ count: number }>`
    select count(*) as count from (select 1 as one from ${rows} limit ${maxRead}) as counted`.execute(
    db,
  )
  return found[0]?.count ?? 0
}

/** The ranges of sizes that a filter names, as conditions on each column. */
function toRanges(
  filter: ModelFilter,
  refTo: (column: SizeColumn) => RawBuilder<unknown>,
): Map<SizeColumn, RawBuilder<SqlBool>[]> {
  const bounds = [
    ['parameter_count', '>=', filter.min_parameters],
    ['parameter_count', '<=', filter.max_parameters],
    ['min_file_size_bytes', '<=', filter.max_file_size_bytes],
    ['min_memory_bytes', '<=', filter.max_memory_bytes],
  ] as const
  const ranges = new Map<SizeColumn, RawBuilder<SqlBool>[]>()
  for (const [column, operator, bound] of bounds) {
    if (bound === undefined) continue
    const condition = sql<SqlBool>`${refTo(column)} ${sql.raw(operator)} ${bound}`
    ranges.set(column, [...(ranges.get(column) ?? []), condition])
  }
  return ranges
}

/** The models that the viewer may see and that match the search and every filter. */
export function filtered(
  db: Kysely<Database>,
  { filter, viewer, search, labels, wideRanges }: Conditions,
  readBy: ReadBy = 'filters',
): SelectQueryBuilder<Database, 'model', object> {
  const size = (column: SizeColumn) =>
    readBy === 'filters' && !wideRanges.has(column)
      ? sql.ref(`model.${column}`)
      : sql`+${sql.ref(`model.${column}`)}` // with the sign it is no column of an index any more
  const conditions = [
    visibleTo(viewer),
    search?.matches,
    isEqual('architecture', filter.architecture),
    isEqual('license', filter.license),
    isEqual('owner', filter.owner?.toLowerCase()),
    ...[...toRanges(filter, size).values()].flat(),
    ...labels.map((label, place) => hasLabel(label, readBy === 'filters' && place === 0)),
  ]
  return conditions
    .filter((condition) => condition !== undefined && condition !== false)
    .reduce(
      (models, condition) => models.where(condition),
      db.selectFrom('model') as SelectQueryBuilder<Database, 'model', object>,
    )
}

/** Whether a query asks for some models only, by words or by filters. */
export function isSearch(filter: ModelFilter): boolean {
  return Boolean(filter.q?.trim()) || isNarrowed(filter)
}

/** Whether a query has any filter besides its words. */
export function isNarrowed({ q: _, ...filter }: ModelFilter): boolean {
  const names = ['architecture', 'license', 'owner', 'tag', 'quantization'] as const
  const parameters = ['min_parameters', 'max_parameters'] as const
  const bytes = ['max_file_size_bytes', 'max_memory_bytes'] as const
  return [...names, ...parameters, ...bytes].some((name) => filter[name] !== undefined)
}

function isEqual(column: 'architecture' | 'license' | 'owner', value: string | undefined) {
  return value !== undefined && sql<SqlBool>`${sql.ref(`model.${column}`)} = ${value}`
}

/** @param isRarest its models are read, if they are not too many, and the other labels looked up for each of them */
function hasLabel({ column, value, count }: Label, isRarest: boolean) {
  const table = sql.table(`model_${column}`)
  const isLabel = sql`${sql.ref(column)} = ${value}`
  return isRarest && count < maxRead
    ? sql<SqlBool>`model.id in (select model_id from ${table} where ${isLabel})`
    : sql<SqlBool>`exists (select 1 from ${table} where ${isLabel} and model_id = model.id)`
}
