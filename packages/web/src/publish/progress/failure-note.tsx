import { hasCode } from '@shoal/core/errors'
import { ApiError } from '@shoal/protocol/client'
import { sentence } from '../../ui/sentence.ts'

/** Shows why an upload has stopped, and what to do. */
export function FailureNote({ error }: { error: Error }) {
  const isSignedOut = error instanceof ApiError && error.status === 401
  return (
    <div role="alert" className="mt-5 rounded-xl bg-roe-soft px-4 py-3 text-[15px]">
      {isSignedOut ? (
        <p>
          Your session has ended. Your upload is saved.{' '}
          <a href="/login?next=/publish" target="_blank" rel="noreferrer" className="link">
            Sign in again in another tab
          </a>
          , then try again here.
        </p>
      ) : (
        <p className="break-words">
          {sentence(error.message)} {adviceFor(error)}
        </p>
      )}
    </div>
  )
}

function adviceFor(error: Error): string {
  if (hasCode(error, 'file_changed')) return 'Cancel the upload and choose the file again.'
  if (hasCode(error, 'other_tab')) return 'Switch to that tab, or close it and try again here.'
  if (hasCode(error, 'file_refused') || hasCode(error, 'bytes_refused'))
    return 'Files that are ready remain published.'
  return 'The uploaded parts are saved.'
}
