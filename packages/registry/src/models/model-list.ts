import type { Model, ModelQuery } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import type { Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'
import type { Search } from '../search/open-search.ts'
import { countedDownloads } from './counted-downloads.ts'
import { type ListedRow, likesAmong, listedColumns, toModel } from './model-repository.ts'
import { isSearch, toSearch } from './to-search.ts'
import { visibleTo } from './visibility.ts'

export interface ModelList {
  /** One page of the matching models that the viewer may see, and their number. */
  list(query: ModelQuery, viewer: Viewer): Promise<ModelPage>
}

/** The total is at most 10,000, and then inexact if there are more. */
export type ModelPage = { models: Model[]; total: number; isTotalExact: boolean }

const maxExactTotal = 10_000
/** Up to this offset, a list of all models is read from the database in the order of an index. */
const maxQuickOffset = 1_000

/** Whether a page needs neither the search index nor much of the database. */
export function isQuickList(query: ModelQuery): boolean {
  return !isSearch(toFilter(query)) && query.offset <= maxQuickOffset
}

/** The list of models, with search, filters, order and totals. */
export function modelList(db: Kysely<Database>, search: Pick<Search, 'find'>): ModelList {
  async function findPage(query: ModelQuery, viewer: Viewer) {
    const { sort, order, offset, limit } = query
    const { seqs, total } = await search.find({
      ...toSearch(toFilter(query), viewer),
      sort: sort === 'created_at' ? 'createdAt' : sort,
      order,
      offset,
      limit,
    })
    return { rows: await readRows(seqs, viewer), total }
  }

  /** The models in this order. One that is deleted or becomes private meanwhile is left out. */
  async function readRows(seqs: readonly number[], viewer: Viewer): Promise<ListedRow[]> {
    if (seqs.length === 0) return []
    const rows = await db
      .selectFrom('model')
      .select(['seq', ...listedColumns, countedDownloads])
      .where('seq', 'in', seqs)
      .where(visibleTo(viewer))
      .execute()
    const bySeq = new Map(rows.map((row) => [row.seq, row]))
    return seqs.flatMap((seq) => bySeq.get(seq) ?? [])
  }

  async function readPage({ sort, order, offset, limit }: ModelQuery, viewer: Viewer) {
    const visible = db.selectFrom('model').where(visibleTo(viewer))
    const rows = await visible
      .select([...listedColumns, countedDownloads])
      .orderBy(sort === 'relevance' ? 'model.downloads' : `model.${sort}`, order)
      .orderBy('id', order) // for a stable order across pages
      .limit(limit)
      .offset(offset)
      .execute()
    const some = visible.select(sql`1`.as('one')).limit(maxExactTotal + 1)
    const { total } = await db
      .selectFrom(some.as('counted'))
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { rows, total }
  }

  return {
    async list(query: ModelQuery, viewer: Viewer): Promise<ModelPage> {
      const { rows, total } = await (isQuickList(query) ? readPage : findPage)(query, viewer)
      const ids = rows.map(({ id }) => id)
      const liked = await likesAmong(db, ids, viewer)
      return {
        models: rows.map((row, at) => toModel(row, liked[at] ?? null)),
        total: Math.min(total, maxExactTotal),
        isTotalExact: total <= maxExactTotal,
      }
    },
  }
}

function toFilter({ limit: _, offset: _o, sort: _s, order: _r, ...filter }: ModelQuery) {
  return filter
}
