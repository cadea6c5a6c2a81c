import { useMutation, useQueryClient } from '@tanstack/react-query'
import { adminKey } from './admin-queries.ts'
import { useRightsCheck } from './use-rights-check.ts'

/** A change by an admin. After it, whether it failed or not, everything on the page is loaded again. */
export function useAdminMutation<Values, Result>(call: (values: Values) => Promise<Result>) {
  const queryClient = useQueryClient()
  const checkRights = useRightsCheck()
  return useMutation({
    mutationFn: call,
    onError: checkRights,
    onSettled() {
      // Not awaited, so that a result that is shown only once does not depend on other requests.
      queryClient.invalidateQueries({ queryKey: adminKey })
    },
  })
}
