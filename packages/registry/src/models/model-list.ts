import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Model, ModelQuery } from '@shoal/protocol'
import { type Kysely, type SqlBool, sql } from 'kysely'
import { anonymous, type Viewer } from '../accounts/caller.ts'
import type { Database } from '../database/schema.ts'
import type { Search } from '../search/open-search.ts'
import type { Position } from '../search/search-index.ts'
import { countedDownloads } from './counted-downloads.ts'
import { likesAmong } from './like-repository.ts'
import { type ListedRow, listedColumns, toModel } from './model-repository.ts'
import { isSearch, toSearch } from './to-search.ts'
import { visibleTo } from './visibility.ts'

export interface ModelList {
  /** Returns one page of the matching models that the viewer may see, and the total number of such models. */
  list(query: ModelQuery, viewer: Viewer): Promise<ModelPage>
  /** Returns the names of public models, oldest first, and the total number of public models. */
  listPublicNames(limit: number, offset: number): Promise<PublicNames>
}

export type PublicNames = { models: { name: string; updated_at: string }[]; total: number }

/** The total is at most 10,000. If there are more models, `isTotalExact` is false. */
export type ModelPage = {
  models: Model[]
  total: number
  isTotalExact: boolean
  /** The position of the last model, for the link to the next page; undefined if the page is empty. */
  cursor: string | undefined
}

const maxExactTotal = 10_000
/** Maximum number of rows in one query. Larger queries would delay other requests on SQLite. */
const rowsPerQuery = 1_000
/** Up to this offset, a list without filters is read directly from the database, in index order. */
const maxQuickOffset = 1_000

/** Whether a page can be read without the search index and without skipping many rows. */
export function isQuickList(query: ModelQuery): boolean {
  const isEarly = query.offset <= maxQuickOffset || query.cursor !== undefined
  return isEarly && !isSearch(toFilter(query))
}

/** Lists models, with search, filters, sort orders and totals. */
export function modelList(db: Kysely<Database>, search: Pick<Search, 'find'>): ModelList {
  async function findPage(query: ModelQuery, viewer: Viewer) {
    const { sort, order, offset, limit, cursor } = query
    const { seqs, total, last } = await search.find({
      ...toSearch(toFilter(query), viewer),
      sort: sort === 'created_at' ? 'createdAt' : sort,
      order,
      offset,
      limit,
      after: cursor === undefined ? undefined : parseCursor(cursor),
    })
    return { rows: await readRows(seqs, viewer), total, last }
  }

  /**
   * Reads the models in the order of `seqs`. Models that have been deleted or have become private in the meantime are
   * left out.
   */
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

  async function readPage({ sort, order, offset, limit, cursor }: ModelQuery, viewer: Viewer) {
    const column = sort === 'relevance' ? 'downloads' : sort
    const visible = db.selectFrom('model').where(visibleTo(viewer))
    const following = cursor === undefined ? sql<SqlBool>`1 = 1` : isAfter(column, order, cursor)
    const rows = await visible
      .where(following)
      .select([...listedColumns, countedDownloads, `model.${column} as sorted_by`])
      .orderBy(`model.${column}`, order)
      .orderBy('id', order) // keeps the order stable across pages
      .limit(limit)
      .offset(cursor === undefined ? offset : 0)
      .execute()
    const some = visible.select(sql`1`.as('one')).limit(maxExactTotal + 1)
    const { total } = await db
      .selectFrom(some.as('counted'))
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const [end] = rows.slice(-1)
    const last = end && { value: toNumber(end.sorted_by), id: end.id }
    return { rows, total, last }
  }

  return {
    async list(query: ModelQuery, viewer: Viewer): Promise<ModelPage> {
      const { rows, total, last } = await (isQuickList(query) ? readPage : findPage)(query, viewer)
      const ids = rows.map(({ id }) => id)
      const liked = await likesAmong(db, ids, viewer)
      return {
        models: rows.map((row, at) => toModel(row, liked[at] ?? null)),
        total: Math.min(total, maxExactTotal),
        isTotalExact: total <= maxExactTotal,
        cursor: last && `${last.value}_${last.id}`,
      }
    },

    async listPublicNames(limit, offset) {
      const oldestFirst = { sort: 'createdAt', order: 'asc', limit, offset } as const
      const { seqs, total } = await search.find({ ...toSearch({}, anonymous), ...oldestFirst })
      const models: PublicNames['models'] = []
      for (let at = 0; at < seqs.length; at += rowsPerQuery) {
        const some = seqs.slice(at, at + rowsPerQuery)
        const rows = await db
          .selectFrom('model')
          .select(['name', 'updated_at'])
          .where('seq', 'in', some)
          .where('is_public', '=', 1)
          .orderBy('seq')
          .execute()
        models.push(...rows)
        await turnOfTheLoop()
      }
      return { models, total }
    },
  }
}

function toFilter({ limit, offset, sort, order, cursor, ...filter }: ModelQuery) {
  return filter
}

/** Converts an ISO 8601 time to milliseconds. Returns a number unchanged. */
const toNumber = (value: number | string) => (typeof value === 'string' ? Date.parse(value) : value)

function parseCursor(cursor: string): Position {
  const end = cursor.indexOf('_')
  return { value: Number(cursor.slice(0, end)), id: cursor.slice(end + 1) }
}

function isAfter(
  column: 'downloads' | 'likes' | 'created_at',
  order: 'asc' | 'desc',
  cursor: string,
) {
  const { value, id } = parseCursor(cursor)
  const stored = column === 'created_at' ? new Date(value).toISOString() : Math.floor(value)
  const is = sql.raw(order === 'asc' ? '>' : '<')
  return sql<SqlBool>`(${sql.ref(`model.${column}`)}, model.id) ${is} (${stored}, ${id})`
}
