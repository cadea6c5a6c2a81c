import { ApiError } from '@shoal/protocol/client'
import { SignInElsewhere } from '../../drafts/sign-in-elsewhere.tsx'
import { Failure, Problem } from '../../ui/problem.tsx'

/** Shows why the model could not be published. */
export function PublishProblem({ error }: { error: Error }) {
  const isSignedOut = error instanceof ApiError && error.status === 401
  if (!isSignedOut) return <Failure as="h2" error={error} note="Your input has been kept." />
  return (
    <Problem as="h2" title="Sign in to continue">
      {/* Signing in happens in another tab, because this page would lose the chosen files. */}
      <SignInElsewhere />
    </Problem>
  )
}
