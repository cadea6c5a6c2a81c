import { ApiError, NetworkError } from '@shoal/protocol/client'
import type { ReactNode } from 'react'
import { sentence } from './sentence.ts'
import { SignInLink } from './sign-in-link.tsx'

type Props = {
  as?: 'h1' | 'h2'
  title: string
  children: ReactNode
  /** A button or a link. */
  action?: ReactNode
}

export function Problem({ as: Heading = 'h1', title, children, action }: Props) {
  return (
    <div role="alert" className="panel p-8">
      <Heading className="font-semibold text-xl">{title}</Heading>
      <div className="mt-2 text-ink-2">{children}</div>
      {action}
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
  const retry = onRetry && (
    <button type="button" className="ctl mt-5" onClick={onRetry}>
      Try again
    </button>
  )
  const action = needsSignIn(error) ? <SignInLink className="mt-5" /> : retry
  return (
    <Problem {...(as && { as })} title={getTitle(error)} action={action}>
      {getDetail(error)}
      {note && ` ${note}`}
    </Problem>
  )
}

const needsSignIn = (error: Error) => error instanceof ApiError && error.status === 401

function getTitle(error: Error): string {
  if (error instanceof NetworkError) return 'The registry is not responding'
  if (!(error instanceof ApiError)) return 'Something went wrong on this page'
  if (needsSignIn(error)) return 'Sign in to continue'
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
