import { sleep } from '@shoal/core/async'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { useClient } from '../api/context.ts'
import { meQuery } from '../api/queries.ts'
import { useSession } from '../api/session.ts'
import { PageHead } from '../app/head.tsx'
import { ScreenTitle } from '../app/screen-title.tsx'
import { Failure } from '../ui/problem.tsx'
import { useObservable } from '../use-observable.ts'
import { PublishForm } from './form/publish-form.tsx'
import { publishing } from './jobs/publishing.ts'
import { UnfinishedJobs } from './unfinished-jobs.tsx'

const retryMs = 2000

/** Loaded on demand, because most visits do not start an upload. */
const ProgressPanel = lazy(async () => {
  for (;;) {
    try {
      return { default: (await import('./progress/progress-panel.tsx')).ProgressPanel }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error // `import` throws a TypeError if the request fails
      await sleep(retryMs) // the upload itself also retries
    }
  }
})

export function PublishScreen() {
  const me = useQuery(meQuery(useClient()))
  const username = useSession().user?.username
  const shown = useObservable(publishing)
  useStartAtTop(shown !== undefined)
  return (
    <div className="page pt-10">
      <PageHead title="Publish" description="Publish a GGUF file." path="/publish" isHidden />
      <div className="mx-auto max-w-[760px]">
        <ScreenTitle className="font-bold text-[34px] tracking-[-0.035em]">Publish</ScreenTitle>
        {me.isError && <Failure as="h2" error={me.error} onRetry={() => me.refetch()} />}
        {me.data === null && !username && !shown && <SignedOut />}
        {shown && (
          <Suspense fallback={<div className="skeleton mt-8 h-60" aria-busy="true" />}>
            <ProgressPanel publishing={shown} />
          </Suspense>
        )}
        {username && !shown && (
          <>
            <p className="mt-1.5 text-[17px] text-ink-2">Upload GGUF files for others to pull.</p>
            <UnfinishedJobs username={username} />
            <PublishForm key={username} username={username} />
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
      <a href="/login?next=/publish" className="ctl-ink mt-5">
        Sign in
      </a>
    </div>
  )
}
