import { FileWarning } from 'lucide-react'
import { useCommands } from '../../api/use-commands.ts'
import { CommandLine } from '../../ui/command-line.tsx'
import { Name } from '../../ui/name.tsx'
import type { ChosenChoice, RefusedFile } from './chosen-file.ts'
import { DropZone } from './drop-zone.tsx'
import { FileChoiceRow } from './file-choice-row.tsx'
import { Part } from './part.tsx'
import type { Chosen } from './use-chosen-files.ts'

type Props = {
  chosen: Chosen
  choices: readonly ChosenChoice[]
  error: string | undefined
  /** Whether the files are large enough for the page to recommend the CLI. */
  isLarge: boolean
  modelName: string
}

export function FilesPart({ chosen, choices, error, isLarge, modelName }: Props) {
  const { files, refused, isReading, add, remove } = chosen
  return (
    <Part number={1} title="Files">
      <DropZone add={add} error={error} isReading={isReading} hasFiles={files.length > 0} />
      <div aria-live="polite">
        {refused.length > 0 && <Refused files={refused} />}
        <ul className={files.length > 0 ? 'mt-4' : ''}>
          {choices.map((choice) => (
            <FileChoiceRow
              key={choice.label}
              choice={choice}
              onRemove={() => remove(choice.files)}
            />
          ))}
        </ul>
        {isLarge && (
          <p className="mt-4 rounded-xl bg-sea-soft px-4 py-3 text-[15px]">
            This upload is larger than 10 GB. You can continue here if you keep this tab open. The
            CLI is faster and does not need an open tab.
          </p>
        )}
      </div>
      <Command modelName={modelName || 'my-model'} />
    </Part>
  )
}

function Command({ modelName }: { modelName: string }) {
  const { registryOption } = useCommands()
  return (
    <div className="mt-4 text-[15px] text-ink-2">
      <p>Or use the CLI:</p>
      <CommandLine
        text={`shoal push ./*.gguf --name ${modelName}${registryOption}`}
        className="mt-2"
      />
    </div>
  )
}

function Refused({ files }: { files: readonly RefusedFile[] }) {
  return (
    <ul className="mt-4 grid gap-2 rounded-xl bg-roe-soft px-4 py-3 text-[15px]">
      {files.map(({ filename, reason }) => (
        <li key={filename} className="flex gap-3">
          <FileWarning size={18} aria-hidden className="mt-0.5 shrink-0 text-roe-ink" />
          <span className="min-w-0 break-words">
            <strong className="break-all font-medium font-mono text-[14px]">
              <Name text={filename} />
            </strong>{' '}
            cannot be published: {reason}.
          </span>
        </li>
      ))}
    </ul>
  )
}
