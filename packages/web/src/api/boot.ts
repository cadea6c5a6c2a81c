/**
 * The data from which a page was rendered. It is sent with the page, so that the browser does not have to fetch it
 * again.
 */
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
