import type { Reader } from '../database/reader.ts'
import {
  type FollowChanges,
  followPostgres,
  followSqlite,
  type ModelChange,
} from './model-changes.ts'
import { readModels, readModelsBySeq, readNumbersBySeq } from './read-models.ts'
import { SearchIndex } from './search-index.ts'

export type FollowedModels = {
  /**
   * Returns the index, which includes everything that was committed before the call. The first call loads all models.
   */
  current(): Promise<SearchIndex>
}

/**
 * The index is rebuilt if more than this share of its documents is outdated, because their models were changed or
 * deleted.
 */
const maxOutdatedShare = 0.5

type Options = {
  /** Indexes with fewer documents than this are not rebuilt, however many of their documents are outdated. */
  minRebuiltDocuments?: number
}

/** Keeps a search index up to date with the database. */
export function followModels(
  { db, engine }: Pick<Reader, 'db' | 'engine'>,
  { minRebuiltDocuments = 10_000 }: Options = {},
): FollowedModels {
  const follow = { sqlite: followSqlite, postgres: followPostgres }[engine]
  let loaded: { index: SearchIndex; followChanges: FollowChanges } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<SearchIndex> | undefined
  let isRebuilding = false

  async function load() {
    const followChanges = follow(db)
    // The position is recorded before the models are read, so that changes made in the meantime are applied afterwards.
    await followChanges(async () => undefined)
    const index = new SearchIndex()
    for await (const models of readModels(db)) for (const model of models) index.put(model)
    index.settle()
    return { index, followChanges }
  }

  const isWorn = ({ size, outdatedShare }: SearchIndex) =>
    size >= minRebuiltDocuments && outdatedShare > maxOutdatedShare

  async function bringUpToDate(): Promise<SearchIndex> {
    next = undefined // later calls may need changes that this update does not include
    loaded ??= await load()
    const { index, followChanges } = loaded
    await followChanges((changes) => apply(index, changes))
    if (isWorn(index) && !isRebuilding) void rebuild()
    return index
  }

  /** Loads another index while searches use the current one. */
  async function rebuild(): Promise<void> {
    isRebuilding = true
    try {
      loaded = await load()
    } catch {
      // The current index stays in use. Searches report database errors themselves, and the next search starts another
      // rebuild.
    } finally {
      isRebuilding = false
    }
  }

  async function apply(index: SearchIndex, changes: readonly ModelChange[]) {
    const texts = changes.filter(({ isText }) => isText).map(({ seq }) => seq)
    for (const seq of texts) index.remove(seq)
    for await (const models of readModelsBySeq(db, texts)) {
      for (const model of models) index.put(model)
    }
    const numbers = changes.filter(({ isText }) => !isText).map(({ seq }) => seq)
    for await (const models of readNumbersBySeq(db, numbers)) {
      for (const model of models) index.update(model.seq, model)
    }
  }

  return {
    current() {
      if (!next) {
        next = last.then(bringUpToDate)
        last = next.catch(() => undefined) // the callers that wait for this update receive the error
      }
      return next
    },
  }
}
