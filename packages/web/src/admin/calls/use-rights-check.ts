import { ApiError } from '@shoal/protocol/client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { useClient } from '../../api/context.ts'
import { meQuery } from '../../api/queries.ts'

/**
 * Returns a function that loads the visitor's account again if an error means that the session has ended or that the
 * visitor is no longer an admin. The page then shows what the visitor may see.
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
