import { ApiError } from '@shoal/protocol/client'
import { QueryClient } from '@tanstack/react-query'

/** Answers are good for half a minute. What the registry refused stays refused; what did not arrive is asked for again. */
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
