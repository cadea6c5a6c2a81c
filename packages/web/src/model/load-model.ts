import type { AppContext } from '../api/context.ts'
import { filesQuery, modelQuery } from '../api/queries.ts'

export async function loadModel(
  { client, queryClient, head }: AppContext,
  name: string,
): Promise<void> {
  const loading = Promise.all([
    queryClient.prefetchQuery(modelQuery(client, name)),
    queryClient.prefetchQuery(filesQuery(client, name)),
  ])
  if (head) await loading
}
