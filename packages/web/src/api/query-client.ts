import { ApiError } from '@shoal/protocol/client'
import { QueryClient } from '@tanstack/react-query'

/**
 * Responses are considered fresh for 30 seconds. Queries are retried up to twice after network and server errors, but
 * not after client errors (4xx).
 */
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
