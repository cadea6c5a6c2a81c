/** The data that a page was rendered from, sent along so that the browser need not fetch it again. */
import type { QueryClient, QueryKey } from '@tanstack/react-query'

export type Boot = [key: QueryKey, data: unknown][]

export const bootFrom = (queryClient: QueryClient): Boot =>
  queryClient
    .getQueryCache()
    .getAll()
    .flatMap(({ queryKey, state: { data } }) => (data === undefined ? [] : [[queryKey, data]]))

export function takeBoot(queryClient: QueryClient, boot: Boot) {
  for (const [key, data] of boot) queryClient.setQueryData(key, data)
}
