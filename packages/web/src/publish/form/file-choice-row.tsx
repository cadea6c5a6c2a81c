import { formatBytes, plural } from '@shoal/core/units'
import type { FileChoice } from '@shoal/model-file/choices'
import { X } from 'lucide-react'
import type { ChosenFile } from './chosen-file.ts'

type Props = { choice: FileChoice<ChosenFile>; onRemove: () => void }

/** A choice as it will be shown on the model's page. */
export function FileChoiceRow({ choice, onRemove }: Props) {
  const { label, files, parts, sizeBytes } = choice
  const [first] = files
  const missing = parts - files.length
  return (
    <li className="flex items-center gap-4 border-line border-t py-3 last:border-b">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <strong className="break-all font-mono font-semibold text-[15px]">{label}</strong>
          <span className="text-[14px] text-ink-2 tabular-nums">{formatBytes(sizeBytes)}</span>
          {parts > 1 && <span className="text-[14px] text-ink-2">{plural(parts, 'part')}</span>}
        </p>
        <p className="break-all font-mono text-[13px] text-ink-3">{first.filename}</p>
        {missing > 0 && (
          <p className="mt-0.5 text-[14px] text-roe-ink">
            {plural(missing, 'part')} of {parts} missing: the model cannot run without all parts.
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
