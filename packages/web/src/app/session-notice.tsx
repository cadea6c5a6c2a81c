import { useSession } from '../api/session.ts'

/** Says that the session has ended. The link opens in another tab, so that the input on this page is not lost. */
export function SessionNotice() {
  const { hasEnded } = useSession()
  return (
    <div role="status" className="fixed inset-x-5 bottom-5 z-50 grid place-items-center">
      {hasEnded && (
        <p className="pop static px-4 py-2.5">
          Your session has ended. What you have typed on this page is kept.{' '}
          <a href="/login" target="_blank" rel="noreferrer" className="link">
            Open the sign-in page
          </a>
        </p>
      )}
    </div>
  )
}
