import { hasCode } from '@shoal/core/errors'
import { formatBytes, plural } from '@shoal/core/units'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useRef } from 'react'
import { useCalls } from '../api/context.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { explain } from '../ui/explain.ts'
import { FieldNote } from '../ui/field.tsx'
import { Name } from '../ui/name.tsx'
import { hashChunk } from './hashing/hash-file.ts'
import { discardJob } from './jobs/discard-job.ts'
import { findSources, type Job, sumBytes, unfinished, wrongFiles } from './jobs/job.ts'
import { knowsOtherTabs } from './jobs/job-lock.ts'
import { fileAgain } from './jobs/picked.ts'
import { publishClient } from './jobs/publish-client.ts'
import { startJob } from './jobs/publishing.ts'

/** `onChange` is called when the job may have been discarded, here or in another tab. */
type Props = { job: Job; onChange: () => void }

/** An unfinished upload that no tab is working on. */
export function UnfinishedJob({ job, onChange }: Props) {
  const client = useCalls(publishClient)
  const queryClient = useQueryClient()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const files = unfinished(job)
  const hasHandles = files.every(({ handle }) => handle !== undefined)

  const goOn = useMutation({
    mutationFn: async (picked: File[] | undefined) =>
      findSources(job, picked ?? (await filesByHandle(job)), hashChunk),
    onSuccess: (sources) =>
      startJob({ client, job, sources, onReady: () => void queryClient.invalidateQueries() }),
  })
  const discard = useMutation({
    mutationFn: () => discardJob(client, job),
    onSuccess: onChange,
    onError(error) {
      if (hasCode(error, 'other_tab')) onChange()
    },
  })
  return (
    <section aria-labelledby={`${id}-title`} className="panel mt-8 border-roe/60">
      <h2 id={`${id}-title`} className="break-words font-semibold text-[19px]">
        {job.displayName} is not fully uploaded
      </h2>
      <p className="mt-1 text-[15px] text-ink-2">
        Incomplete: {plural(files.length, 'file')}, {formatBytes(sumBytes(files))} in total. Only
        the missing parts will be uploaded.
        {!hasHandles && ` Choose ${files.length === 1 ? 'the same file' : 'the same files'} again:`}
      </p>
      {!hasHandles && (
        <ul className="mt-1 break-all font-mono text-[13px] text-ink-2">
          {files.map(({ filename }) => (
            <li key={filename}>
              <Name text={filename} />
            </li>
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
              aria-describedby={goOn.isError ? `${id}-note` : undefined}
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
        <button type="button" className="ctl" onClick={() => dialog.current?.showModal()}>
          Discard…
        </button>
      </div>
      {goOn.error && (
        <FieldNote id={`${id}-note`} isError>
          {explain(goOn.error)}
        </FieldNote>
      )}
      <ConfirmDialog
        dialog={dialog}
        title={`Discard the upload of ${job.displayName}?`}
        action="Discard upload"
        isBusy={discard.isPending}
        error={discard.error}
        onConfirm={() => discard.mutate()}
      >
        {describeLoss(job)} This cannot be undone.
        {!knowsOtherTabs() && ' If another tab is uploading these files, that upload will fail.'}
      </ConfirmDialog>
    </section>
  )
}

function describeLoss(job: Job): string {
  const readyCount = job.files.length - unfinished(job).length
  const lost = 'The uploaded parts will be deleted'
  if (readyCount > 0) return `${lost}. Files that are ready will remain published.`
  return job.newModel ? `${lost}. The model will also be deleted if it has no files.` : `${lost}.`
}

/** Reads the files using the handles saved on the earlier visit. */
async function filesByHandle(job: Job): Promise<File[]> {
  const files: File[] = []
  for (const { handle, filename } of unfinished(job)) {
    const file = handle && (await fileAgain(handle))
    if (!file)
      throw wrongFiles(
        `${filename} was moved or deleted, or the browser has no permission to read it`,
      )
    files.push(file)
  }
  return files
}
