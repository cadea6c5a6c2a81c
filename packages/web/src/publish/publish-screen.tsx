import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Failure } from '../ui/problem.tsx'
import { useObservable } from '../use-observable.ts'
import { PublishForm } from './form/publish-form.tsx'
import { publishing } from './jobs/publishing.ts'
import { ProgressPanel } from './progress/progress-panel.tsx'
import { UnfinishedJobs } from './unfinished-jobs.tsx'

export function PublishScreen() {
  const me = useQuery(meQuery(useClient()))
  const shown = useObservable(publishing)
  useStartAtTop(shown !== undefined)
  return (
    <div className="page pt-10">
      <PageHead title="Publish" description="Publish a GGUF file." path="/publish" isHidden />
      <div className="mx-auto max-w-[760px]">
        <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Publish</ScreenTitle>
        {me.isError && <Failure as="h2" error={me.error} onRetry={() => me.refetch()} />}
        {me.data === null && !shown && <SignedOut />}
        {shown && <ProgressPanel publishing={shown} />}
        {me.data && !shown && (
          <>
            <p className="mt-1.5 text-[17px] text-ink-2">Upload GGUF files for others to pull.</p>
            <UnfinishedJobs username={me.data.username} />
            <PublishForm username={me.data.username} />
          </>
        )}
      </div>
    </div>
  )
}

/**
 * Scrolls to the top and focuses the title when the screen switches between the form and the upload, because the switch
 * removes the focused element.
 */
function useStartAtTop(isPublishing: boolean) {
  const before = useRef(isPublishing)
  useEffect(() => {
    if (before.current === isPublishing) return
    before.current = isPublishing
    scrollTo(0, 0)
    document.querySelector('h1')?.focus()
  }, [isPublishing])
}

function SignedOut() {
  return (
    <div className="panel mt-8 p-8">
      <h2 className="font-semibold text-xl">Sign in to publish</h2>
      <p className="mt-2 text-ink-2">You’ll be returned to this page after signing in.</p>
      <a href="/login?next=/publish" className="ctl-ink mt-5">
        Sign in
      </a>
    </div>
  )
}
