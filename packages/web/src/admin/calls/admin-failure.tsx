import { useEffect } from 'react'
import { Failure } from '../../ui/problem.tsx'
import { useRightsCheck } from './use-rights-check.ts'

type Props = { error: Error; onRetry: () => void }

/** Shows why a section's data could not be loaded, and checks whether the visitor is still an administrator. */
export function AdminFailure({ error, onRetry }: Props) {
  const checkRights = useRightsCheck()
  useEffect(() => checkRights(error), [checkRights, error])
  return <Failure as="h2" error={error} onRetry={onRetry} />
}
