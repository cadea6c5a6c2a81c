import type { ErrorComponentProps } from '@tanstack/react-router'
import { Failure } from '../ui/problem.tsx'

/** For mistakes of the pages themselves; what the registry refuses is told by the screen that asked. */
export function UnexpectedError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page py-16">
      <Failure error={error as Error} onRetry={reset} />
    </div>
  )
}
