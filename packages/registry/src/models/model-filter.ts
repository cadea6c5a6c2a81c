import type { ModelQuery } from '@shoal/protocol'
import { type Kysely, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { visibleTo } from './visibility.ts'

export type ModelFilter = Omit<ModelQuery, 'limit' | 'offset' | 'sort' | 'order'>

/** The models that the viewer may see and that match the search and every filter. */
export function filtered(
  db: Kysely<Database>,
  filter: ModelFilter,
  viewer: Viewer,
  search: ModelSearch | undefined,
): SelectQueryBuilder<Database, 'model', object> {
  const { min_parameters, max_parameters, max_file_size_bytes } = filter
  const conditions = [
    visibleTo(viewer),
    search?.matches,
    isEqual('architecture', filter.architecture),
    isEqual('license', filter.license),
    isEqual('owner', filter.owner?.toLowerCase()),
    min_parameters !== undefined && sql<SqlBool>`model.parameter_count >= ${min_parameters}`,
    max_parameters !== undefined && sql<SqlBool>`model.parameter_count <= ${max_parameters}`,
    max_file_size_bytes !== undefined &&
      sql<SqlBool>`model.min_file_size_bytes <= ${max_file_size_bytes}`,
    ...(filter.tag ?? []).map(
      (tag) => sql<SqlBool>`exists (
        select 1 from model_tag where tag = ${tag} and model_id = model.id)`,
    ),
    filter.quantization !== undefined &&
      sql<SqlBool>`exists (
        select 1 from model_quantization
        where quantization = ${filter.quantization} and model_id = model.id)`,
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
  const bounds = ['min_parameters', 'max_parameters', 'max_file_size_bytes'] as const
  return [...names, ...bounds].some((name) => filter[name] !== undefined)
}

function isEqual(column: 'architecture' | 'license' | 'owner', value: string | undefined) {
  return value !== undefined && sql<SqlBool>`${sql.ref(`model.${column}`)} = ${value}`
}
