import { useMutation, useQueryClient } from '@tanstack/react-query'
import { adminKey } from './admin-queries.ts'
import { useRightsCheck } from './use-rights-check.ts'

/**
 * Returns a mutation for a change by an administrator. After the change, even if it failed, the page's data is
 * reloaded.
 */
export function useAdminMutation<Values, Result>(call: (values: Values) => Promise<Result>) {
  const queryClient = useQueryClient()
  const checkRights = useRightsCheck()
  return useMutation({
    mutationFn: call,
    onError: checkRights,
    onSettled() {
      // Not awaited: a secret that is shown only once must not depend on other requests.
      queryClient.invalidateQueries({ queryKey: adminKey })
    },
  })
}
