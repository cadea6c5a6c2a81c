import { formatBytes, plural } from '@shoal/core/units'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { useClient } from '../api/context.ts'
import { FieldNote } from '../ui/field.tsx'
import { sentence } from '../ui/field-errors.ts'
import { hashChunk } from './hashing/hash-file.ts'
import { dropJob } from './jobs/drop-job.ts'
import { findSources, type Job, sumBytes, unfinished, wrongFiles } from './jobs/job.ts'
import { forgetJob, listJobs } from './jobs/kept-jobs.ts'
import { fileAgain } from './jobs/picked.ts'
import { startJob } from './jobs/publishing.ts'

/** Unfinished uploads from earlier visits. */
export function UnfinishedJobs({ username }: { username: string }) {
  const jobs = useQuery({
    queryKey: ['unfinished', username],
    queryFn: () => listJobs(username),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })
  return jobs.data?.map((job) => <UnfinishedJob key={job.modelName} job={job} />)
}

function UnfinishedJob({ job }: { job: Job }) {
  const client = useClient()
  const queryClient = useQueryClient()
  const id = useId()
  const files = unfinished(job)
  const hasHandles = files.every(({ handle }) => handle !== undefined)

  const goOn = useMutation({
    mutationFn: async (picked: File[] | undefined) =>
      findSources(job, picked ?? (await filesByHandle(job)), hashChunk),
    onSuccess: (sources) =>
      startJob({ client, job, sources, onReady: () => void queryClient.invalidateQueries() }),
  })
  const drop = useMutation({
    mutationFn: async () => {
      await dropJob(client, job)
      await forgetJob(job)
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['unfinished'] }),
  })
  const error = goOn.error ?? drop.error
  return (
    <section aria-labelledby={`${id}-title`} className="panel mt-8 border-roe/60">
      <h2 id={`${id}-title`} className="break-words font-semibold text-[19px]">
        {job.displayName} is not fully uploaded
      </h2>
      <p className="mt-1 text-[15px] text-ink-2">
        {plural(files.length, 'file')} ({formatBytes(sumBytes(files))}) left. Only the missing parts
        will be uploaded.
        {!hasHandles && ` Choose ${files.length === 1 ? 'the same file' : 'the same files'} again:`}
      </p>
      {!hasHandles && (
        <ul className="mt-1 break-all font-mono text-[13px] text-ink-2">
          {files.map(({ filename }) => (
            <li key={filename}>{filename}</li>
          ))}
        </ul>
      )}
      <div className="mt-4 flex flex-wrap gap-3">
        {hasHandles && !goOn.isError ? (
          <button type="button" className="ctl-ink" onClick={() => goOn.mutate(undefined)}>
            Resume
          </button>
        ) : (
          <span>
            <input
              id={id}
              type="file"
              multiple={files.length > 1}
              accept=".gguf"
              className="peer sr-only"
              aria-invalid={goOn.isError}
              aria-describedby={error ? `${id}-note` : undefined}
              onChange={({ target }) => {
                const picked = [...(target.files ?? [])]
                target.value = '' // so that the same file can be chosen again
                if (picked.length > 0) goOn.mutate(picked)
              }}
            />
            <label
              htmlFor={id}
              className="ctl-ink cursor-pointer outline-offset-2 outline-roe-ink peer-focus-visible:outline-2"
            >
              Choose and resume
            </label>
          </span>
        )}
        <button
          type="button"
          className="ctl"
          disabled={drop.isPending}
          onClick={() => drop.mutate()}
        >
          Discard
        </button>
      </div>
      {error && (
        <FieldNote id={`${id}-note`} isError>
          {sentence(error.message)}
        </FieldNote>
      )}
    </section>
  )
}

/** Reads the files with the handles from the earlier visit. */
async function filesByHandle(job: Job): Promise<File[]> {
  const files: File[] = []
  for (const { handle, filename } of unfinished(job)) {
    const file = handle && (await fileAgain(handle))
    if (!file)
      throw wrongFiles(`${filename} was deleted, or the browser has no permission to read it`)
    files.push(file)
  }
  return files
}
