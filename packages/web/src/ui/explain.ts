import { ApiError } from '@shoal/protocol/client'
import { sentence } from './sentence.ts'

/** Describes why a change failed. Pages offer changes only to visitors who are signed in. */
export const explain = (error: Error): string =>
  error instanceof ApiError && error.status === 401
    ? 'Your session has ended, so nothing was changed. Sign in again, then retry.'
    : sentence(error.message)
