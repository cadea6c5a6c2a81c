import { ApiError } from '@shoal/protocol/client'
import { QueryClient } from '@tanstack/react-query'

/** Responses stay fresh for 30 seconds. Client errors are not retried; network and server errors are. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
      },
      mutations: { retry: false },
    },
  })
