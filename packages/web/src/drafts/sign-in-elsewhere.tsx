/** Shows that the session has ended. Its link opens in another tab, so that the input on this page is not lost. */
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
        Sign in again in another tab
      </a>
      , then retry here.
    </>
  )
}
