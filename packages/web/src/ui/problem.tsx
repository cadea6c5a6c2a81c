import { ApiError, NetworkError } from '@shoal/protocol/client'
import type { ReactNode } from 'react'

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
  /** What was kept, for example. */
  note?: string
  onRetry?: () => void
}

/** An error as a person can use it: what happened, what was kept, what to do. */
export function Failure({ as, error, note, onRetry }: FailureProps) {
  return (
    <Problem {...(as && { as })} title={titleOf(error)} onRetry={onRetry}>
      {detailOf(error)}
      {note && ` ${note}`}
    </Problem>
  )
}

function titleOf(error: Error): string {
  if (error instanceof NetworkError) return 'The registry did not answer'
  if (!(error instanceof ApiError)) return 'Something went wrong on this page'
  if (error.status === 401) return 'Sign in first'
  if (error.status === 403) return 'This is not yours to do'
  if (error.status === 429) return 'The registry asks us to wait'
  return error.status >= 500 ? 'The registry is in trouble' : 'The registry refused'
}

function detailOf(error: Error): string {
  if (error instanceof NetworkError) return 'Is the network there? Nothing was lost.'
  const isBroken = error instanceof ApiError && error.status === 500
  if (isBroken) return 'It may be over in a moment. Nothing was lost.'
  const { message } = error
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
