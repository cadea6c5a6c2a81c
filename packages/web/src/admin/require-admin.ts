import { notFound } from '@tanstack/react-router'
import type { AppContext } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'

/** For signed-in users who are not admins, the page does not exist. Other visitors can sign in on it. */
export async function requireAdmin({ client, queryClient }: AppContext): Promise<void> {
  const query = meQuery(client)
  await queryClient.prefetchQuery(query)
  if (queryClient.getQueryData(query.queryKey)?.is_admin === false) throw notFound()
}
