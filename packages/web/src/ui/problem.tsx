import { ApiError, NetworkError } from '@shoal/protocol/client'
import type { ReactNode } from 'react'
import { sentence } from './sentence.ts'

type Props = {
  as?: 'h1' | 'h2'
  title: string
  children: ReactNode
  onRetry?: (() => void) | undefined
}

export function Problem({ as: Heading = 'h1', title, children, onRetry }: Props) {
  return (
    <div role="alert" className="panel p-8">
      <Heading className="font-semibold text-xl">{title}</Heading>
      <div className="mt-2 text-ink-2">{children}</div>
      {onRetry && (
        <button type="button" className="ctl mt-5" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

type FailureProps = {
  as?: 'h1' | 'h2'
  error: Error
  /** Additional information, for example what was saved. */
  note?: string
  onRetry?: () => void
}

/** Shows an error to the visitor: what happened, what was saved, and what to do. */
export function Failure({ as, error, note, onRetry }: FailureProps) {
  return (
    <Problem {...(as && { as })} title={getTitle(error)} onRetry={onRetry}>
      {getDetail(error)}
      {note && ` ${note}`}
    </Problem>
  )
}

function getTitle(error: Error): string {
  if (error instanceof NetworkError) return 'The registry is not responding'
  if (!(error instanceof ApiError)) return 'Something went wrong on this page'
  if (error.status === 401) return 'Sign in to continue'
  if (error.status === 403) return 'You don’t have permission to do this'
  if (error.status === 429) return 'Too many requests'
  return error.status >= 500 ? 'Registry error' : 'The request was rejected'
}

function getDetail(error: Error): string {
  if (error instanceof NetworkError) return 'Check your network connection, then try again.'
  const isBroken = error instanceof ApiError && error.status === 500
  if (isBroken) return 'The registry could not process the request. Try again in a moment.'
  return sentence(error.message)
}
