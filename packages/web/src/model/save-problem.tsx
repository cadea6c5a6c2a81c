import { ApiError } from '@shoal/protocol/client'
import { SignInAgain } from '../drafts/sign-in-again.tsx'
import { sentence } from '../ui/sentence.ts'

type Props = {
  error: Error | null
  /** Whether the fields themselves show the error. */
  hasFieldErrors: boolean
  /** Whether the changes are kept as a draft. */
  isKept: boolean
}

/** Shows, next to the button, why the changes were not saved. */
export function SaveProblem({ error, hasFieldErrors, isKept }: Props) {
  return (
    <p role="alert" className="min-w-0 flex-1 basis-60 text-[15px] text-roe-ink empty:hidden">
      {error &&
        (hasFieldErrors ? 'Not saved: correct the marked fields.' : describe(error, isKept))}
    </p>
  )
}

function describe(error: Error, isKept: boolean) {
  const isSignedOut = error instanceof ApiError && error.status === 401
  if (isSignedOut) return <SignInAgain isKept={isKept} />
  const kept = isKept ? ' Your changes are kept as a draft.' : ''
  return `${sentence(error.message)}${kept}`
}
