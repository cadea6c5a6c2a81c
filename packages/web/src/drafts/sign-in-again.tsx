import { Link } from '@tanstack/react-router'

/** Says that the session has ended, and where to sign in. `isKept`: whether the changes survive leaving the page. */
export function SignInAgain({ isKept }: { isKept: boolean }) {
  const next = location.pathname + location.search
  if (!isKept) {
    return (
      <>
        Your session has ended, so nothing was saved.{' '}
        <a
          href={`/login?${new URLSearchParams({ next })}`}
          target="_blank"
          className="link"
          rel="noopener"
        >
          Sign in in another tab
        </a>
        , then try again here.
      </>
    )
  }
  return (
    <>
      Your session has ended, so nothing was saved. This browser keeps your changes as a draft.{' '}
      <Link to="/login" search={{ next }} ignoreBlocker className="link">
        Sign in to continue
      </Link>
    </>
  )
}
