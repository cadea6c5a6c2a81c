import { formatBytes, formatMemory, plural } from '@shoal/core/units'
import { findFidelity } from '@shoal/model-file/choices'
import type { ModelRecord } from '@shoal/protocol/client'
import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { Name } from '../ui/name.tsx'
import { type Choice, getMemory, isRough } from './choices.ts'
import { FileDetails } from './file-details.tsx'
import { GetMenu } from './get-menu.tsx'
import { RunHere } from './run-here.tsx'

type Props = {
  model: ModelRecord
  choice: Choice
  isBest: boolean
  memoryBytes: number
  scaleBytes: number
}

export function FileRow({ model, choice, isBest, memoryBytes, scaleBytes }: Props) {
  const { label, quantization, sizeBytes, isCompanion } = choice
  const needed = getMemory(choice)
  const fits = needed <= memoryBytes
  const size = formatBytes(sizeBytes)
  const [isOpen, setOpen] = useState(false)
  const details = useId()
  return (
    <li className="border-line border-t">
      <div className="grid grid-cols-[1fr_auto] items-center gap-x-6 max-md:gap-y-2 max-md:py-3 md:h-28 xl:h-[60px] md:grid-cols-[150px_minmax(80px,1fr)_150px_80px_auto] lg:grid-cols-[170px_minmax(120px,1fr)_190px_84px_80px_auto]">
        <p className="flex items-center gap-1.5 break-all font-medium font-mono text-[15px]">
          <button
            type="button"
            aria-label={`Details of ${label}`}
            aria-expanded={isOpen}
            aria-controls={details}
            onClick={() => setOpen(!isOpen)}
            className="-ml-2 grid size-7 shrink-0 place-items-center rounded-md text-ink-3 hover:bg-sunken hover:text-ink"
          >
            <ChevronRight
              size={16}
              aria-hidden
              className={`transition-transform ${isOpen ? 'rotate-90' : ''}`}
            />
          </button>
          <span className={isCompanion ? 'text-[13px] leading-tight' : ''}>
            <Name text={label} />
          </span>
          {isBest && (
            <span className="whitespace-nowrap font-sans font-semibold text-[13px] text-roe-ink">
              {isRough(choice) ? 'Fits' : 'Best fit'}
            </span>
          )}
        </p>
        <Bar
          share={isCompanion ? 0 : needed / scaleBytes}
          line={memoryBytes / scaleBytes}
          look={isBest ? 'fill-roe' : fits ? 'fill-sea' : undefined}
        />
        <p className="text-[14px] text-ink-2 leading-tight max-md:col-start-1">
          {isCompanion ? 'Used with another file' : findFidelity(quantization)}
          {!isCompanion && (
            <span className="block text-ink-3">
              {fits ? 'runs in' : 'needs'} {formatMemory(needed)}
            </span>
          )}
        </p>
        <p className="text-[14px] text-ink-3 tabular-nums max-lg:hidden">{formatSource(choice)}</p>
        <p className="text-right font-mono text-[14px] text-ink tabular-nums max-md:hidden">
          {size}
        </p>
        <div className="max-md:col-start-2 max-md:row-span-2 max-md:row-start-1 max-md:flex max-md:items-center max-md:gap-3">
          <span className="font-mono text-[14px] text-ink-2 md:hidden">{size}</span>
          <div className="flex flex-wrap justify-end gap-2 max-xl:w-min">
            <RunHere model={model} choice={choice} />
            <GetMenu model={model} choice={choice} />
          </div>
        </div>
      </div>
      <div id={details} hidden={!isOpen}>
        <FileDetails choice={choice} />
      </div>
    </li>
  )
}

function formatSource({ files }: Choice): string {
  const seeders = Math.min(...files.map((file) => file.seeders))
  return seeders > 0 ? plural(seeders, 'peer') : 'registry only'
}

type BarProps = {
  /** `share` is the memory needed, and `line` is the memory available, both as fractions of the scale. */
  share: number
  line: number
  /** The CSS class of the bar; undefined if the file does not fit in memory, in which case the bar is hatched. */
  look: string | undefined
}

/** Hidden from screen readers, because the text next to the bar contains the same information. */
function Bar({ share, line, look }: BarProps) {
  const percent = (part: number) => `${(Math.min(1.1, part) * 100).toFixed(2)}%`
  return (
    <svg
      aria-hidden="true"
      className="h-4 w-full self-stretch overflow-hidden max-md:order-last max-md:col-span-2 md:h-full"
    >
      <svg y="50%" overflow="visible" aria-hidden="true">
        <rect
          y="-6"
          height="12"
          rx="6"
          width={percent(share)}
          className={look ?? 'stroke-line-strong'}
          {...(look === undefined && { fill: 'url(#hatch)' })}
        />
      </svg>
      <line
        x1={percent(line)}
        x2={percent(line)}
        y1="0"
        y2="100%"
        className="stroke-2 stroke-ink"
      />
    </svg>
  )
}
