import { formatBytes, formatContext } from '@shoal/core/units'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { useState } from 'react'
import { useCommands } from '../api/use-commands.ts'
import { ContextChoice } from '../app/context-choice.tsx'
import { MemoryChoice } from '../app/memory-choice.tsx'
import { usePrefs } from '../app/use-prefs.ts'
import { Words } from '../ui/command-line.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Name } from '../ui/name.tsx'
import { Segments } from '../ui/segments.tsx'
import { adviceFor } from './advice.ts'
import { type Choice, findProjector, isRough } from './choices.ts'
import { OwnersLink } from './owners-link.tsx'
import { NothingOpened, RunHere } from './run-here.tsx'
import { snippetsFor } from './snippets.ts'
import { useChoices } from './use-choices.ts'

type Props = { model: ModelRecord; files: readonly ModelFile[] }

export function UseThisModel({ model, files }: Props) {
  const { daemon } = usePrefs()
  const { toArgument } = useCommands()
  const { choices, best, ...situation } = useChoices(model, files)
  const projector = findProjector(choices)
  const label = (best ?? choices[0])?.label
  return (
    <div className="panel">
      <h2 className="font-semibold text-[19px]">Use this model</h2>
      {label === undefined ? (
        <p className="mt-3 text-[15px] text-ink-2">
          No file is ready yet.
          <OwnersLink model={model}>Add a file</OwnersLink>
        </p>
      ) : (
        <>
          <div className="mt-3 grid justify-items-start gap-2">
            <MemoryChoice />
            <ContextChoice />
          </div>
          <p className="mt-3 text-[15px] text-ink-2" aria-live="polite">
            {best && <BestFit best={best} contextTokens={situation.contextTokens} />}{' '}
            {adviceFor(best, situation)}
          </p>
          {projector && <Projector projector={projector} />}
          {best && (
            <div className="mt-4 grid justify-items-start gap-2">
              <RunHere model={model} choice={best} className="ctl-ink" />
              <NothingOpened className="text-[14px] text-ink-3" />
            </div>
          )}
          <Snippets
            snippets={snippetsFor({
              id: `${model.name}:${label}`,
              argument: toArgument(model.name, label),
              projector: projector && toArgument(model.name, projector.label),
              daemon,
            })}
          />
        </>
      )}
    </div>
  )
}

function BestFit({ best, contextTokens }: { best: Choice; contextTokens: number }) {
  const { label, sizeBytes } = best
  return (
    <>
      With a context of {formatContext(contextTokens)} tokens,{' '}
      {isRough(best) ? 'the largest file that fits is ' : 'the best fit is '}
      <strong className="break-all font-mono text-[14px] text-ink">
        <Name text={label} />
      </strong>{' '}
      (download: {formatBytes(sizeBytes)}).
    </>
  )
}

/** The daemon accepts only text, so llama.cpp is needed for images and sound. */
function Projector({ projector: { label, sizeBytes } }: { projector: Choice }) {
  return (
    <p className="mt-2 text-[15px] text-ink-2">
      For images or sound, llama.cpp also needs the projector{' '}
      <strong className="break-all font-mono text-[14px] text-ink">
        <Name text={label} />
      </strong>{' '}
      (download: {formatBytes(sizeBytes)}).
    </p>
  )
}

function Snippets({ snippets }: { snippets: Record<string, string> }) {
  const [chosen, setChosen] = useState('CLI')
  const text = snippets[chosen] ?? ''
  const isCommand = !text.includes('\n')
  return (
    <div className="mt-4 rounded-xl bg-sunken">
      <Segments
        legend="Example"
        values={Object.keys(snippets)}
        chosen={chosen}
        onChoose={setChosen}
        className="-mr-2 p-1.5"
      />
      <div className="flex items-start gap-1 pr-1.5 pb-1.5">
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: lets users scroll long lines with the keyboard
          tabIndex={0}
          className={`min-w-0 flex-1 overflow-x-auto px-3.5 py-1.5 font-mono text-[13px] leading-5 ${isCommand ? 'whitespace-normal' : ''}`}
        >
          {isCommand ? <Words text={text} /> : text}
        </pre>
        <CopyButton
          value={text}
          label={`Copy the ${chosen} example`}
          className="grid size-8 shrink-0 place-items-center rounded-md hover:bg-surface"
        />
      </div>
    </div>
  )
}
