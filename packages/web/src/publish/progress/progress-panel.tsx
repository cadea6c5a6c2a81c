import { formatBytes, formatSeconds } from '@shoal/core/units'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { useCommands } from '../../api/use-commands.ts'
import { CommandLine } from '../../ui/command-line.tsx'
import { closeJob, type Publishing } from '../jobs/publishing.ts'
import { Announcement } from './announcement.tsx'
import { Bar } from './bar.tsx'
import { FailureNote } from './failure-note.tsx'
import { FileProgressRow } from './file-progress-row.tsx'
import { ProgressControls } from './progress-controls.tsx'
import { WaitCountdown } from './wait-countdown.tsx'

type Props = { publishing: Publishing }

/** The progress and result of an upload. */
export function ProgressPanel({ publishing }: Props) {
  const { job, files, state, wait, error, isKept } = publishing
  return (
    <section aria-labelledby="upload-title" className="mt-8">
      <Announcement publishing={publishing} />
      <div className="panel sm:p-7">
        {state === 'done' ? <Done publishing={publishing} /> : <Underway publishing={publishing} />}
        {error && <FailureNote error={error} />}
        {wait && <WaitCountdown wait={wait} />}
        <ul className="mt-6">
          {files.map((file) => (
            <FileProgressRow key={file.filename} file={file} isRunning={state === 'running'} />
          ))}
        </ul>
        {state !== 'done' && <ProgressControls publishing={publishing} />}
      </div>
      {state === 'running' && (
        <p className="mt-4 text-[14px] text-ink-3">
          {isKept
            ? `You can visit other pages of this registry in the meantime. If this tab closes, return to this page and resume the upload with ${job.files.length === 1 ? 'the same file' : 'the same files'}.`
            : 'This browser cannot save the upload: keep this tab open until the upload is complete.'}
        </p>
      )}
    </section>
  )
}

const titles = {
  running: 'Publishing',
  paused: 'Paused:',
  failed: 'Stopped:',
  done: 'Published:',
} as const

function Underway({ publishing }: Props) {
  const { job, state, share } = publishing
  return (
    <>
      <h2 id="upload-title" className="break-words font-semibold text-[22px]">
        {titles[state]} {job.displayName}
      </h2>
      <div className="mt-5 flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1.5">
        <p className="font-display font-semibold text-[34px] tabular-nums leading-none tracking-[-0.03em]">
          {Math.floor(share * 100)}%
        </p>
        <p className="text-[15px] text-ink-2 tabular-nums">{describeProgress(publishing)}</p>
      </div>
      <Bar label="Progress of the upload" share={share} className="mt-3 h-2.5" />
    </>
  )
}

/** Describes the bytes that the registry has, or, before the first file is sent, the bytes that have been read. */
function describeProgress({ files, state, progress }: Publishing): string {
  const { bytesDone, bytesTotal, bytesPerSecond, secondsLeft } = progress
  const isSending = files.some(({ stage }) => stage === 'sending' || stage === 'checking')
  const hashed = isSending ? undefined : files.find(({ stage }) => stage === 'hashing')
  if (hashed) {
    return `Computing the checksum: ${formatBytes(hashed.bytesDone)} of ${formatBytes(hashed.sizeBytes)} read`
  }
  const isMoving = state === 'running' && files.some(({ stage }) => stage === 'sending')
  const speed = isMoving && bytesPerSecond > 0 && ` · ${formatBytes(bytesPerSecond)}/s`
  const rest = isMoving && secondsLeft !== undefined && ` · ${formatSeconds(secondsLeft)} left`
  return `Uploaded ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}${speed || ''}${rest || ''}`
}

function Done({ publishing: { job } }: Props) {
  const { toArgument } = useCommands()
  return (
    <>
      <div className="flex items-center gap-5">
        <span className="grid size-12 shrink-0 place-items-center rounded-full bg-ok text-bg">
          <Check size={26} aria-hidden strokeWidth={2.5} />
        </span>
        <div className="min-w-0">
          <h2 id="upload-title" className="break-words font-semibold text-[22px]">
            {job.displayName} is published
          </h2>
          <p className="text-[15px] text-ink-2">
            The registry has verified every byte. Anyone with access can now pull the model:
          </p>
        </div>
      </div>
      <CommandLine text={`shoal pull ${toArgument(job.modelName)}`} className="mt-5" />
      <div className="mt-5 flex flex-wrap gap-3">
        <Link
          to="/m/$name"
          params={{ name: job.modelName }}
          className="ctl-ink"
          onClick={() => closeJob()}
        >
          View model
        </Link>
        <button type="button" className="ctl" onClick={() => closeJob()}>
          Publish another
        </button>
      </div>
    </>
  )
}
