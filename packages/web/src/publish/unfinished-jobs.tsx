import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useId } from 'react'
import type { Job } from './jobs/job.ts'
import { isLocked, untilUnlocked } from './jobs/job-lock.ts'
import { listJobs } from './jobs/kept-jobs.ts'

const queryKey = ['unfinished']

/** Loaded on demand, because most visitors have no unfinished uploads. */
const UnfinishedJob = lazy(async () => ({
  default: (await import('./unfinished-job.tsx')).UnfinishedJob,
}))

/** Unfinished uploads from earlier visits, and uploads in other tabs. */
export function UnfinishedJobs({ username }: { username: string }) {
  const queryClient = useQueryClient()
  const jobs = useQuery({
    queryKey: [...queryKey, username],
    queryFn: async () => {
      const kept = await listJobs(username)
      return Promise.all(
        kept.map(async (job) => ({ job, isElsewhere: await isLocked(job.modelName) })),
      )
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  const listAgain = () => queryClient.invalidateQueries({ queryKey })
  return jobs.data?.map(({ job, isElsewhere }) =>
    isElsewhere ? (
      <JobElsewhere key={job.modelName} job={job} />
    ) : (
      <Suspense key={job.modelName}>
        <UnfinishedJob job={job} onChange={listAgain} />
      </Suspense>
    ),
  )
}

/** An upload that another tab is running or has paused. */
function JobElsewhere({ job: { displayName, modelName } }: { job: Job }) {
  const queryClient = useQueryClient()
  const id = useId()
  useEffect(() => {
    const stop = new AbortController()
    async function listWhenUnlocked() {
      try {
        await untilUnlocked(modelName, stop.signal)
      } catch (error) {
        if (stop.signal.aborted) return
        throw error
      }
      await queryClient.invalidateQueries({ queryKey })
    }
    void listWhenUnlocked()
    return () => stop.abort()
  }, [modelName, queryClient])
  return (
    <section aria-labelledby={`${id}-title`} className="panel mt-8">
      <h2 id={`${id}-title`} className="break-words font-semibold text-[19px]">
        {displayName} is being published in another tab
      </h2>
      <p className="mt-1 text-[15px] text-ink-2">
        Switch to that tab to see the progress, or to pause or cancel the upload. If you close that
        tab, you can resume the upload here.
      </p>
    </section>
  )
}
