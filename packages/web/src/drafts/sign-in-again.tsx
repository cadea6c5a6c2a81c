import { Link } from '@tanstack/react-router'
import { SignInElsewhere } from './sign-in-elsewhere.tsx'

/**
 * Shows that the session has ended, with a link to sign in. `isKept` states whether the changes survive leaving the
 * page.
 */
export function SignInAgain({ isKept }: { isKept: boolean }) {
  if (!isKept) return <SignInElsewhere />
  const next = location.pathname + location.search
  return (
    <>
      Your session has ended, so nothing was saved. This browser keeps your changes as a draft.{' '}
      <Link to="/login" search={{ next }} ignoreBlocker className="link">
        Sign in to continue
      </Link>
    </>
  )
}
