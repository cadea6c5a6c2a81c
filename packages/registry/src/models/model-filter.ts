import type { ModelQuery } from '@shoal/protocol'
import { type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { visibleTo } from './visibility.ts'

export type ModelFilter = Omit<ModelQuery, 'limit' | 'offset' | 'sort' | 'order'>

/**
 * How SQLite should find models: starting from the filters, which is best for counting and for few matches, or by
 * checking each model in page order, which ends early with many matches. PostgreSQL chooses by itself.
 */
export type ReadBy = 'filters' | 'order'

/** A tag or quantization that models must have. */
export type Label = {
  column: 'tag' | 'quantization'
  value: string
  /** The number of models with this label, counted up to `maxRead`. */
  count: number
}

/** With this many models for a label or a range of sizes, reading them is slower than checking all models. */
const maxRead = 50_000

type SizeColumn = 'parameter_count' | 'min_file_size_bytes' | 'min_memory_bytes'

/** A filter with its statistics. */
export type Conditions = {
  filter: ModelFilter
  viewer: Viewer
  search: ModelSearch | undefined
  /** Without duplicates, rarest first. */
  labels: Label[]
  /** Sizes whose range contains too many models for their index to help. */
  wideRanges: ReadonlySet<SizeColumn>
}

/** Counts the models of each part of the filter, up to a limit: SQLite does not know these counts. */
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

/** The size ranges in a filter, as conditions on each column. */
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
      : sql`+${sql.ref(`model.${column}`)}` // the plus sign keeps SQLite from using the column's index
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

/** Whether a query selects only some models, by words or filters. */
export function isSearch(filter: ModelFilter): boolean {
  return Boolean(filter.q?.trim()) || isNarrowed(filter)
}

/** Whether a query has filters in addition to words. */
export function isNarrowed({ q: _, ...filter }: ModelFilter): boolean {
  const names = ['architecture', 'license', 'owner', 'tag', 'quantization'] as const
  const parameters = ['min_parameters', 'max_parameters'] as const
  const bytes = ['max_file_size_bytes', 'max_memory_bytes'] as const
  return [...names, ...parameters, ...bytes].some((name) => filter[name] !== undefined)
}

function isEqual(column: 'architecture' | 'license' | 'owner', value: string | undefined) {
  return value !== undefined && sql<SqlBool>`${sql.ref(`model.${column}`)} = ${value}`
}

/**
 * @param isRarest whether to start from this label's models, unless there are too many; other labels are checked for
 * each model
 */
function hasLabel({ column, value, count }: Label, isRarest: boolean) {
  const table = sql.table(`model_${column}`)
  const isLabel = sql`${sql.ref(column)} = ${value}`
  return isRarest && count < maxRead
    ? sql<SqlBool>`model.id in (select model_id from ${table} where ${isLabel})`
    : sql<SqlBool>`exists (select 1 from ${table} where ${isLabel} and model_id = model.id)`
}
