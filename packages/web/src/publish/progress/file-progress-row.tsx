import { formatBytes } from '@shoal/core/units'
import type { FileState } from '../jobs/publishing.ts'
import { Bar } from './bar.tsx'

const tones = {
  queued: 'sea',
  hashing: 'sea',
  sending: 'roe',
  checking: 'roe',
  ready: 'ok',
  refused: 'roe',
} as const

const looks: Partial<Record<FileState['stage'], string>> = {
  ready: 'text-ok',
  refused: 'text-roe-ink',
}

type Props = { file: FileState; isRunning: boolean; hasBar: boolean }

export function FileProgressRow({ file, isRunning, hasBar }: Props) {
  const { filename, sizeBytes, stage, bytesDone } = file
  const share = sizeBytes === 0 ? 0 : bytesDone / sizeBytes
  return (
    <li className="grid gap-1.5 border-line border-t py-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-[14px]">
        <span className="min-w-0 break-all font-mono">{filename}</span>
        <span className={`tabular-nums ${looks[stage] ?? 'text-ink-2'}`}>
          {wordsFor(file, isRunning)}
          <span className="ml-3 text-ink-3">{formatBytes(sizeBytes)}</span>
        </span>
      </p>
      {hasBar && <Bar label={filename} share={share} tone={tones[stage]} />}
    </li>
  )
}

function wordsFor({ stage, sizeBytes, bytesDone }: FileState, isRunning: boolean): string {
  const percent = `${Math.floor((bytesDone / sizeBytes) * 100)}%`
  if (stage === 'queued') return 'Queued'
  if (stage === 'hashing') return bytesDone === sizeBytes ? 'Read' : `Reading ${percent}`
  if (stage === 'sending') return isRunning ? `Uploading ${percent}` : `Uploaded ${percent}`
  if (stage === 'refused') return 'Rejected'
  if (stage === 'ready') return 'Ready'
  return isRunning ? 'Checking' : 'Uploaded'
}
