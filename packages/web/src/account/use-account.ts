import type { SignedIn } from '@shoal/protocol/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { nextPage } from './next-page.ts'

/** Signs in by `call`, forgets what a stranger was shown, and goes on to `next`. */
export function useAccount<T>(call: (values: T) => Promise<SignedIn>, next: string | undefined) {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: call,
    async onSuccess({ user }) {
      queryClient.clear()
      queryClient.setQueryData(meQuery(client).queryKey, user)
      await navigate({ href: nextPage(next), replace: true })
    },
  })
}
