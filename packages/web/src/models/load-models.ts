import type { AppContext } from '../api/context.ts'
import { facetsQuery, listQuery, schoolQuery } from '../api/queries.ts'
import { filterFrom, hasFilter, type ModelsSearch } from './models-search.ts'

/** In a browser the screen renders what it has; on the server all data must be loaded first. */
export async function loadModels(
  { client, queryClient, head }: AppContext,
  search: ModelsSearch,
): Promise<void> {
  const loading = Promise.all([
    queryClient.prefetchQuery(listQuery(client, filterFrom(search))),
    queryClient.prefetchQuery(facetsQuery(client)),
    ...(hasFilter(search) ? [] : [queryClient.prefetchQuery(schoolQuery(client))]),
  ])
  if (head) await loading
}
