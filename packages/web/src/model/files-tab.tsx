import { formatContext, formatMemory } from '@shoal/core/units'
import { findFidelity } from '@shoal/model-file/choices'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { Link } from '@tanstack/react-router'
import { ContextChoice } from '../app/context-choice.tsx'
import { MemoryChoice } from '../app/memory-choice.tsx'
import { adviceFor } from './advice.ts'
import { type Choice, getMemory } from './choices.ts'
import { FileRow } from './file-row.tsx'
import { NothingOpened } from './run-here.tsx'
import { useChoices } from './use-choices.ts'

type Props = { model: ModelRecord; files: readonly ModelFile[] | undefined }

/** Shows the memory that each file needs, on a common scale, with a line at the memory that models may use. */
export function FilesTab({ model, files }: Props) {
  const { choices, best, ...situation } = useChoices(model, files ?? [])
  const { memoryGb, memoryBytes, contextTokens } = situation
  if (!files) return <div className="skeleton mt-6 h-64" aria-busy="true" />
  if (choices.length === 0) {
    return <p className="py-12 text-ink-2">No file is ready yet.</p>
  }
  const scaleBytes = computeScale(choices, memoryBytes)
  return (
    <section className="pt-6" aria-labelledby="files-title">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <div>
          <h2 id="files-title" className="font-semibold text-[20px]">
            Choose a file
          </h2>
          <p className="text-[15px] text-ink-3" aria-live="polite">
            {adviceFor(best, situation) || 'Files with lower precision need less memory.'}
            {!best && (
              <Link to="/" search={{ fits: memoryGb }} className="link ml-1.5">
                See models that fit
              </Link>
            )}
          </p>
        </div>
        <div className="flex flex-wrap gap-x-5 gap-y-2">
          <MemoryChoice />
          <ContextChoice />
        </div>
      </div>
      <NothingOpened className="mb-3 text-[14px] text-ink-3" />
      <Hatch />
      <ul>
        {choices.map((choice) => (
          <FileRow
            key={choice.files[0].id}
            model={model}
            choice={choice}
            isBest={choice === best}
            memoryBytes={memoryBytes}
            scaleBytes={scaleBytes}
          />
        ))}
      </ul>
      <p className="border-line border-t pt-4 text-[14px] text-ink-3">
        The vertical line marks the memory available to models: {formatMemory(memoryBytes)} of{' '}
        {memoryGb} GB. The rest is left to the system and other programs, such as a browser.
        Estimates include a context of {formatContext(contextTokens)} tokens.
      </p>
    </section>
  )
}

/**
 * Returns the end of the linear memory scale, in bytes. The bars of unquantized files may extend beyond it, so that the
 * bars of the other files stay readable.
 */
function computeScale(choices: readonly Choice[], memoryBytes: number): number {
  const reduced = choices.filter(({ quantization }) => findFidelity(quantization) !== 'Original')
  return Math.max(memoryBytes * 1.3, ...reduced.map((choice) => getMemory(choice) * 1.06))
}

/** The fill pattern for files that do not fit in memory. */
function Hatch() {
  return (
    <svg aria-hidden="true" className="absolute size-0">
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">
        <path d="M-1 7 7-1M-1 1 1-1M5 7 7 5" className="stroke-line-strong" strokeWidth="1" />
      </pattern>
    </svg>
  )
}
