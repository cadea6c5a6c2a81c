/** What happens if the visitor's session ends, for example because it was ended elsewhere or the account was disabled. */
import type { Me } from '@shoal/protocol'
import type { Transport } from '@shoal/protocol/client'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from './context.ts'
import { meKey, meQuery } from './queries.ts'

/** Responses that may be different for a visitor who is signed in. */
const suspicious = [401, 403, 404]

/**
 * Returns a transport that loads the visitor's account again if a response suggests that the session has ended, so that
 * every page shows who the visitor is now.
 */
export function noticeSignOut(transport: Transport, queryClient: QueryClient): Transport {
  return async (request) => {
    const answer = await transport(request)
    const me = queryClient.getQueryState(meKey)
    const isChecked = me?.fetchStatus === 'fetching'
    if (suspicious.includes(answer.status) && me?.data && !isChecked) {
      void queryClient.invalidateQueries({ queryKey: meKey })
    }
    return answer
  }
}

const signedOutKey = ['signed-out'] as const

/** Called after the visitor has signed out in this tab, so that no page keeps showing their input. */
export const noteSignOut = (queryClient: QueryClient) =>
  queryClient.setQueryData(signedOutKey, true)

/**
 * Returns the visitor's account, or undefined for a visitor who is not signed in. If the session ends while the page is
 * open, still returns the account, with `hasEnded`, because removing a form would lose what the visitor has typed.
 */
export function useSession(): { user: Me | undefined; hasEnded: boolean; isPending: boolean } {
  const queryClient = useQueryClient()
  const { data: me, isPending } = useQuery(meQuery(useClient()))
  const [before, setBefore] = useState<Me>()
  const isSignedOut = queryClient.getQueryData(signedOutKey) === true
  const user = me ?? (me === null && !isSignedOut ? before : undefined)
  if (user !== before) setBefore(user)
  return { user, hasEnded: me === null && user !== undefined, isPending }
}
