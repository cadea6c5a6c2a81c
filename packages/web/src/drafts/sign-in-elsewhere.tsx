/** Says that the session has ended, and offers to sign in in another tab, because leaving this page would lose its input. */
export function SignInElsewhere() {
  const next = location.pathname + location.search
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
