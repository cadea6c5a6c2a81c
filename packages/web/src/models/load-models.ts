import type { AppContext } from '../api/context.ts'
import { facetsQuery, listQuery, schoolQuery } from '../api/queries.ts'
import { criteriaFrom, filterFrom } from './criteria.ts'
import { countedWithin, facets } from './facets.ts'
import { hasFilter, type ModelsSearch } from './models-search.ts'

/**
 * Loads the screen's data. A browser renders the screen while data is still being loaded, but the server waits for all
 * data.
 */
export async function loadModels(
  { client, queryClient, head }: AppContext,
  search: ModelsSearch,
): Promise<void> {
  const loading = Promise.all([
    queryClient.prefetchQuery(listQuery(client, filterFrom(search))),
    ...facets.map(({ name }) => {
      const criteria = criteriaFrom(countedWithin(search, name))
      return queryClient.prefetchQuery(facetsQuery(client, criteria))
    }),
    ...(hasFilter(search) ? [] : [queryClient.prefetchQuery(schoolQuery(client))]),
  ])
  if (head) await loading
}
