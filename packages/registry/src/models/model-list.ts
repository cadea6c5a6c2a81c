import type { Facets, Model, ModelQuery, Stats } from '@shoal/protocol'
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { FullText, ModelSearch } from '../database/full-text.ts'
import type { Database } from '../database/schema.ts'
import { likesAmong, listedColumns, toModel } from './model-repository.ts'
import { visibleTo } from './visibility.ts'

export type ModelList = ReturnType<typeof modelList>
export type ModelFilter = Omit<ModelQuery, 'limit' | 'offset' | 'sort' | 'order'>

/** Matches are counted up to here. */
export const exactTotalAtMost = 10_000
const facetValuesAtMost = 100

const sortColumns = { downloads: 'downloads', likes: 'likes', created_at: 'created_at' } as const

/** The list of models: search, filters, order and totals. */
export function modelList(db: Kysely<Database>, fullText: FullText) {
  async function searchFor(q: string | undefined): Promise<ModelSearch | 'nothing' | undefined> {
    return q === undefined || q.trim() === '' ? undefined : fullText.search(db, q)
  }

  return {
    /** One page of the models that match, and how many there are. */
    async list(
      query: ModelQuery,
      viewer: Viewer,
    ): Promise<{ models: Model[]; total: number; isTotalExact: boolean }> {
      const search = await searchFor(query.q)
      if (search === 'nothing') return { models: [], total: 0, isTotalExact: true }
      const matching = () => filtered(db, query, viewer, search)

      const counted = matching()
        .select(sql`1`.as('one'))
        .limit(exactTotalAtMost + 1)
      const { count } = await db
        .selectFrom(counted.as('matching'))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()

      const { sort, order } = query
      const rows = await matching()
        .select(listedColumns.map((column) => `model.${column}` as const))
        .$if(sort === 'relevance' && search !== undefined, (page) =>
          page.orderBy(search?.rank ?? sql`0`, order === 'desc' ? 'asc' : 'desc'),
        )
        .orderBy(`model.${sort === 'relevance' ? 'downloads' : sortColumns[sort]}`, order)
        .orderBy('model.id', order) // ties keep their place from page to page
        .limit(query.limit)
        .offset(query.offset)
        .execute()

      const liked = await likesAmong(
        db,
        rows.map((row) => row.id),
        viewer,
      )
      const isTotalExact = Number(count) <= exactTotalAtMost
      return {
        models: rows.map((row, at) => toModel(row, liked[at] ?? null)),
        total: isTotalExact ? Number(count) : exactTotalAtMost,
        isTotalExact,
      }
    },

    /** How many of the matching models have which architecture, license, tag and quantization. */
    async facets(filter: ModelFilter, viewer: Viewer): Promise<Facets> {
      const search = await searchFor(filter.q)
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

      const [architectures, licenses, tags, quantizations] = await Promise.all(
        [ofColumn('architecture'), ofColumn('license'), ofTags, ofQuantizations].map((values) =>
          values.orderBy('count', 'desc').orderBy('value').limit(facetValuesAtMost).execute(),
        ),
      )
      return {
        architectures: architectures ?? [],
        licenses: licenses ?? [],
        tags: tags ?? [],
        quantizations: quantizations ?? [],
      }
    },

    stats: (): Promise<Stats> =>
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
  }
}

/** The models that the viewer may see and that match every filter. */
function filtered(
  db: Kysely<Database>,
  filter: ModelFilter,
  viewer: Viewer,
  search: ModelSearch | undefined,
): SelectQueryBuilder<Database, 'model', object> {
  const { architecture, license, owner, tag, quantization } = filter
  const { min_parameters, max_parameters, max_file_size_bytes } = filter
  let query = db.selectFrom('model').where(visibleTo(viewer)) as SelectQueryBuilder<
    Database,
    'model',
    object
  >
  if (search) query = query.where(search.condition)
  if (architecture !== undefined) query = query.where('model.architecture', '=', architecture)
  if (license !== undefined) query = query.where('model.license', '=', license)
  if (owner !== undefined) query = query.where('model.owner', '=', owner.toLowerCase())
  if (min_parameters !== undefined) query = query.where('parameter_count', '>=', min_parameters)
  if (max_parameters !== undefined) query = query.where('parameter_count', '<=', max_parameters)
  if (max_file_size_bytes !== undefined) {
    query = query.where('min_file_size_bytes', '<=', max_file_size_bytes)
  }
  for (const one of tag ?? []) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('model_tag')
          .select('model_tag.tag')
          .whereRef('model_tag.model_id', '=', 'model.id')
          .where('model_tag.tag', '=', one),
      ),
    )
  }
  if (quantization !== undefined) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('file')
          .select('file.id')
          .whereRef('file.model_id', '=', 'model.id')
          .where('file.status', '=', 'ready')
          .where('file.quantization', '=', quantization),
      ),
    )
  }
  return query
}
