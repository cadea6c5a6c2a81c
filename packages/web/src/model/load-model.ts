import type { AppContext } from '../api/context.ts'
import { filesQuery, modelQuery, nearQuery } from '../api/queries.ts'

export async function loadModel(
  { client, queryClient, head }: AppContext,
  name: string,
): Promise<void> {
  const model = modelQuery(client, name)
  const loading = Promise.all([
    queryClient.prefetchQuery(model),
    queryClient.prefetchQuery(filesQuery(client, name)),
  ])
  if (!head) return
  await loading
  const isMissing = queryClient.getQueryState(model.queryKey)?.status === 'error'
  if (isMissing) await queryClient.prefetchQuery(nearQuery(client, name))
}
