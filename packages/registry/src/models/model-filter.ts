import type { ModelQuery } from '@shoal/protocol'
import { type Kysely, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
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

/** The models that the viewer may see and that match the search and every filter. */
export function filtered(
  db: Kysely<Database>,
  filter: ModelFilter,
  viewer: Viewer,
  search: ModelSearch | undefined,
  readBy: ReadBy = 'filters',
): SelectQueryBuilder<Database, 'model', object> {
  const { min_parameters, max_parameters, max_file_size_bytes, max_memory_bytes } = filter
  const size = (column: 'parameter_count' | 'min_file_size_bytes' | 'min_memory_bytes') =>
    // With the sign it is no column of an index any more.
    readBy === 'filters' ? sql.ref(`model.${column}`) : sql`+${sql.ref(`model.${column}`)}`
  const conditions = [
    visibleTo(viewer),
    search?.matches,
    isEqual('architecture', filter.architecture),
    isEqual('license', filter.license),
    isEqual('owner', filter.owner?.toLowerCase()),
    min_parameters !== undefined && sql<SqlBool>`${size('parameter_count')} >= ${min_parameters}`,
    max_parameters !== undefined && sql<SqlBool>`${size('parameter_count')} <= ${max_parameters}`,
    max_file_size_bytes !== undefined &&
      sql<SqlBool>`${size('min_file_size_bytes')} <= ${max_file_size_bytes}`,
    max_memory_bytes !== undefined &&
      sql<SqlBool>`${size('min_memory_bytes')} <= ${max_memory_bytes}`,
    ...(filter.tag ?? []).map((tag) => hasLabel('tag', tag, readBy)),
    filter.quantization !== undefined && hasLabel('quantization', filter.quantization, readBy),
  ]
  return conditions
    .filter((condition) => condition !== undefined && condition !== false)
    .reduce(
      (models, condition) => models.where(condition),
      db.selectFrom('model') as SelectQueryBuilder<Database, 'model', object>,
    )
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

function hasLabel(column: 'tag' | 'quantization', value: string, readBy: ReadBy) {
  const table = sql.table(`model_${column}`)
  const isLabel = sql`${sql.ref(column)} = ${value}`
  return readBy === 'filters'
    ? sql<SqlBool>`model.id in (select model_id from ${table} where ${isLabel})`
    : sql<SqlBool>`exists (select 1 from ${table} where ${isLabel} and model_id = model.id)`
}
