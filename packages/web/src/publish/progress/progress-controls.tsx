import { hasCode } from '@shoal/core/errors'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../ui/problem.tsx'
import { closeJob, giveUpJob, type Publishing, pauseJob, resumeJob } from '../jobs/publishing.ts'

export function ProgressControls({ publishing: { state, error } }: { publishing: Publishing }) {
  const [isAsking, setAsking] = useState(false)
  const giveUp = useMutation({ mutationFn: giveUpJob })
  if (isAsking) {
    return (
      <fieldset className="mt-5 flex flex-wrap items-center gap-3">
        <legend className="sr-only">Cancel the upload?</legend>
        <p className="text-[15px]">The uploaded parts will be deleted.</p>
        <button
          type="button"
          className="ctl border-roe-ink text-roe-ink"
          disabled={giveUp.isPending}
          onClick={() => giveUp.mutate()}
        >
          Cancel upload
        </button>
        <button
          type="button"
          className="ctl"
          // biome-ignore lint/a11y/noAutofocus: it replaces the button that had the focus
          autoFocus
          onClick={() => setAsking(false)}
        >
          Keep uploading
        </button>
        {giveUp.isError && <Failure as="h2" error={giveUp.error} />}
      </fieldset>
    )
  }
  return (
    <div className="mt-5 flex flex-wrap gap-3">
      {state === 'running' ? (
        <button type="button" className="ctl" onClick={() => pauseJob()}>
          Pause
        </button>
      ) : (
        <button type="button" className="ctl-ink" onClick={() => resumeJob()}>
          {state === 'paused' ? 'Resume' : 'Try again'}
        </button>
      )}
      {hasCode(error, 'other_tab') ? (
        <button type="button" className="ctl" onClick={() => closeJob()}>
          Close
        </button>
      ) : (
        <button type="button" className="ctl" onClick={() => setAsking(true)}>
          Cancel…
        </button>
      )}
    </div>
  )
}
