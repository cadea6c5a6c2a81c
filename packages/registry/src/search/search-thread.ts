/**
 * The thread that holds a registry's search index. It reads all models from the database when it loads the index, and
 * reads any changes before each search.
 */
import { serveParent } from '@shoal/threads/parent'
import { openReader, type ReaderConfig } from '../database/reader.ts'
import { followModels } from './follow-models.ts'
import type { SearchFilter, SearchQuery } from './search-index.ts'

export type SearchMethods = ReturnType<typeof makeMethods>

serveParent((config: ReaderConfig) => makeMethods(config))

function makeMethods(config: ReaderConfig) {
  const reader = openReader(config)
  const models = followModels(reader)
  return {
    find: async (query: SearchQuery) => (await models.current()).find(query),
    countLabels: async (filter: SearchFilter) => (await models.current()).countLabels(filter),
    total: async (maxParameterCounts: number) => (await models.current()).total(maxParameterCounts),
    /** Loads the models ahead of the first search. */
    load: async () => void (await models.current()),
    close: reader.close,
  }
}
