import type { SignedIn } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { nextPage } from './next-page.ts'

/**
 * Returns a mutation that signs in with `call`, clears the cached data that was loaded without a session, and navigates
 * to `next`.
 */
export function useAccount<T>(call: (values: T) => Promise<SignedIn>, next: string | undefined) {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    async mutationFn(values: T) {
      const signedIn = await call(values)
      const me = await queryClient.fetchQuery({ ...meQuery(client), staleTime: 0 })
      if (!me) throw new Error(elsewhere())
      return { ...signedIn, me }
    },
    async onSuccess({ me }) {
      queryClient.clear()
      queryClient.setQueryData(meQuery(client).queryKey, me)
      await navigate({ href: nextPage(next), replace: true })
    },
  })
}

/** Returns the error for a sign-in at an address other than the base URL, where the session cookie does not work. */
function elsewhere(): string {
  const address = document.documentElement.dataset.baseUrl
  return `You can’t sign in at ${location.origin}. Open ${address}, the registry’s base URL, to sign in`
}
