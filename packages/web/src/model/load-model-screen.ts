import type { AppContext } from '../api/context.ts'
import { cardQuery, filesQuery, modelQuery, nearQuery } from '../api/queries.ts'
import type { ModelScreenSearch } from './model-search.ts'

/**
 * Maximum time that the server waits for a model card before it sends the page. If the card takes longer, the browser
 * loads it.
 */
const cardAtMostMs = 500
const printedSoon = () => new Promise<void>((resolve) => setTimeout(resolve, cardAtMostMs))

export async function loadModelScreen(
  { client, queryClient, head }: AppContext,
  name: string,
  { tab, images = false }: ModelScreenSearch = {},
): Promise<void> {
  const model = modelQuery(client, name)
  const card = cardQuery(client, name, images)
  const loading = Promise.all([
    queryClient.prefetchQuery(model),
    queryClient.prefetchQuery(filesQuery(client, name)),
    ...(tab ? [] : [Promise.race([queryClient.prefetchQuery(card), printedSoon()])]),
  ])
  if (!head) return
  await loading
  head.modelName = queryClient.getQueryData(model.queryKey)?.name
  const isMissing = queryClient.getQueryState(model.queryKey)?.status === 'error'
  if (isMissing) await queryClient.prefetchQuery(nearQuery(client, name))
}
