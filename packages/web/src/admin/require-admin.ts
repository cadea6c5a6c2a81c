import { notFound } from '@tanstack/react-router'
import type { AppContext } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'

/**
 * Throws `notFound` for signed-in users who are not administrators. Visitors who are not signed in can sign in on the
 * page.
 */
export async function requireAdmin({ client, queryClient }: AppContext): Promise<void> {
  const query = meQuery(client)
  await queryClient.prefetchQuery(query)
  if (queryClient.getQueryData(query.queryKey)?.is_admin === false) throw notFound()
}
