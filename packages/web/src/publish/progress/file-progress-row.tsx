import { formatBytes } from '@shoal/core/units'
import { Name } from '../../ui/name.tsx'
import type { FileState } from '../jobs/progress-share.ts'

const looks: Partial<Record<FileState['stage'], string>> = {
  ready: 'text-ok',
  refused: 'text-roe-ink',
}

type Props = { file: FileState; isRunning: boolean }

export function FileProgressRow({ file, isRunning }: Props) {
  const { filename, sizeBytes, stage } = file
  return (
    <li className="border-line border-t py-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-[14px]">
        <span className="min-w-0 break-all font-mono">
          <Name text={filename} />
        </span>
        <span className={`tabular-nums ${looks[stage] ?? 'text-ink-2'}`}>
          {wordsFor(file, isRunning)}
          <span className="ml-3 text-ink-3">{formatBytes(sizeBytes)}</span>
        </span>
      </p>
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
