import type { ErrorComponentProps } from '@tanstack/react-router'
import { Failure } from '../ui/problem.tsx'

/**
 * Shown when a bug in a page causes an error. Errors from the registry are shown by the screen that made the request.
 */
export function UnexpectedError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page py-16">
      <Failure error={error as Error} onRetry={reset} />
    </div>
  )
}
