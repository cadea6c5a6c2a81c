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
/** Indexes with fewer documents are not rebuilt because of outdated documents. */
const minRebuiltDocuments = 10_000

/** Keeps a search index up to date with the database. */
export function followModels({ db, engine }: Pick<Reader, 'db' | 'engine'>): FollowedModels {
  const follow = { sqlite: followSqlite, postgres: followPostgres }[engine]
  let loaded: { index: SearchIndex; followChanges: FollowChanges } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<SearchIndex> | undefined

  async function load() {
    const followChanges = follow(db)
    // The position is recorded before the models are read, so that changes made in the meantime are applied afterwards.
    await followChanges(async () => undefined)
    const index = new SearchIndex()
    for await (const models of readModels(db)) for (const model of models) index.put(model)
    index.settle()
    return { index, followChanges }
  }

  async function bringUpToDate(): Promise<SearchIndex> {
    next = undefined // later calls may need changes that this update does not include
    const isWorn =
      loaded &&
      loaded.index.size > minRebuiltDocuments &&
      loaded.index.outdatedShare > maxOutdatedShare
    if (!loaded || isWorn) loaded = await load()
    const { index, followChanges } = loaded
    await followChanges((changes) => apply(index, changes))
    return index
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
