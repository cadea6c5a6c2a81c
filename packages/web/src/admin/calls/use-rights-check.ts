import { ApiError } from '@shoal/protocol/client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useClient } from '../../api/context.ts'
import { meQuery } from '../../api/queries.ts'

/**
 * Returns a function to call with the error of a request. If the error means that the session has ended or that the
 * visitor is no longer an administrator, the function loads the visitor's account again, so that the page shows only
 * what the visitor may see.
 */
export function useRightsCheck() {
  const client = useClient()
  const queryClient = useQueryClient()
  return useCallback(
    (error: Error) => {
      if (!(error instanceof ApiError) || ![401, 403].includes(error.status)) return
      queryClient.invalidateQueries(meQuery(client))
    },
    [client, queryClient],
  )
}
