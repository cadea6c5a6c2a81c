import { formatBytes, plural } from '@shoal/core/units'
import { X } from 'lucide-react'
import { Name } from '../../ui/name.tsx'
import type { ChosenChoice } from './chosen-file.ts'
import { formatFilenames } from './missing-parts.ts'

type Props = { choice: ChosenChoice; onRemove: () => void }

/** A choice as it will be shown on the model's page. */
export function FileChoiceRow({ choice, onRemove }: Props) {
  const { label, files, parts, sizeBytes, missing } = choice
  const [first] = files
  return (
    <li className="flex items-center gap-4 border-line border-t py-3 last:border-b">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <strong className="break-all font-mono font-semibold text-[15px]">
            <Name text={label} />
          </strong>
          <span className="text-[14px] text-ink-2 tabular-nums">{formatBytes(sizeBytes)}</span>
          {parts > 1 && <span className="text-[14px] text-ink-2">{plural(parts, 'part')}</span>}
        </p>
        <p className="break-all font-mono text-[13px] text-ink-3">
          <Name text={first.filename} />
        </p>
        {missing.length > 0 && (
          <p className="mt-0.5 break-words text-[14px] text-roe-ink">
            Missing {plural(missing.length, 'part')} of {parts}:{' '}
            <span className="break-all font-mono text-[13px]">
              <Name text={formatFilenames(missing)} />
            </span>
          </p>
        )}
      </div>
      <button
        type="button"
        className="ctl-quiet shrink-0"
        aria-label={`Remove ${label}`}
        title={`Remove ${label}`}
        onClick={onRemove}
      >
        <X size={18} aria-hidden />
      </button>
    </li>
  )
}
