import type { AppContext } from '../api/context.ts'
import { listQuery, ownerQuery } from '../api/queries.ts'
import { filterFrom } from '../models/criteria.ts'
import type { ModelsSearch } from '../models/models-search.ts'

export async function loadOwner(
  { client, queryClient, head }: AppContext,
  username: string,
  search: ModelsSearch,
): Promise<void> {
  const filter = { ...filterFrom(search), owner: username }
  const loading = Promise.all([
    queryClient.prefetchQuery(ownerQuery(client, username)),
    queryClient.prefetchQuery(listQuery(client, filter)),
  ])
  if (head) await loading
}
