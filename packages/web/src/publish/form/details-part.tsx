import { formatContext, formatCount } from '@shoal/core/units'
import { useCommands } from '../../api/use-commands.ts'
import { CardField } from '../../card/card-field.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import type { ChosenFile } from './chosen-file.ts'
import type { DetailErrors, Details } from './details.ts'
import { Part } from './part.tsx'
import { factsAmong } from './suggest-details.ts'
import type { NameCheck } from './use-name-check.ts'

type Props = {
  details: Details
  edit: (changes: Partial<Details>) => void
  errors: DetailErrors
  files: readonly ChosenFile[]
  name: NameCheck
  isNewModel: boolean
}

export function DetailsPart({ details, edit, errors, files, name, isNewModel }: Props) {
  const isNameWritten = details.name !== ''
  const nameError = errors.name ?? (isNameWritten ? name.error : undefined)
  return (
    <Part number={2} title="Details">
      <HeaderFacts files={files} />
      <div className="grid gap-5">
        <Field
          label="Name"
          value={details.name}
          className="field font-mono"
          onChange={({ target }) => edit({ name: target.value.toLowerCase() })}
          error={nameError}
          hint={<NameHint name={name} text={details.name} />}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        {isNewModel && <DescribingFields details={details} edit={edit} errors={errors} />}
      </div>
    </Part>
  )
}

function NameHint({ name, text }: { name: NameCheck; text: string }) {
  const { toArgument } = useCommands()
  const words = () => {
    if (name.isChecking) return 'Checking availability …'
    if (name.model)
      return 'This model already exists. Your files will be added to it, and its details will not change.'
    if (name.isFree) return `Available. Pull command: shoal pull ${toArgument(text)}`
    return 'Part of the pull command. Use 2 to 96 characters: lowercase letters, digits, dots, hyphens or underscores.'
  }
  return (
    <span aria-live="polite" className={name.isFree && !name.isChecking ? 'text-ok' : ''}>
      {words()}
    </span>
  )
}

type FieldsProps = Pick<Props, 'details' | 'edit' | 'errors'>

function DescribingFields({ details, edit, errors }: FieldsProps) {
  return (
    <>
      <Field
        label="Display name"
        value={details.displayName}
        onChange={({ target }) => edit({ displayName: target.value })}
        error={errors.displayName}
        hint="Shown as the title. Defaults to the name."
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field
          label="License"
          value={details.license}
          onChange={({ target }) => edit({ license: target.value })}
          error={errors.license}
          hint="For example, apache-2.0 or mit."
          autoCapitalize="none"
        />
        <Field
          label="Tags"
          value={details.tags}
          onChange={({ target }) => edit({ tags: target.value })}
          error={errors.tags}
          hint="Search keywords, separated by commas."
          autoCapitalize="none"
        />
      </div>
      <TextArea
        label="Description"
        rows={2}
        value={details.description}
        onChange={({ target }) => edit({ description: target.value })}
        error={errors.description}
        hint="One sentence on what the model is good for."
      />
      <CardField
        label="Model card"
        rows={8}
        value={details.readme}
        names={[details.displayName, details.name]}
        onChange={({ target }) => edit({ readme: target.value })}
        error={errors.readme}
        hint="Supports Markdown. You can also write the card later, on the model’s page."
        spellCheck
      />
    </>
  )
}

function HeaderFacts({ files }: { files: readonly ChosenFile[] }) {
  const facts = factsAmong(files)
  if (!facts) return null
  const { architecture, parameters, context_length, quantizations } = facts
  const shown = [
    ['Architecture', architecture ?? '–'],
    ['Parameters', parameters > 0 ? formatCount(parameters) : '–'],
    ['Context', context_length === null ? '–' : `${formatContext(context_length)} tokens`],
    ['Quantization', quantizations.join(', ')],
  ] as const
  return (
    <dl
      aria-label="Details read from the files"
      className="mb-6 grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl bg-sunken px-4 py-3 sm:grid-cols-4"
    >
      {shown.map(([title, value]) => (
        <div key={title} className="min-w-0">
          <dt className="text-[13px] text-ink-3">{title}</dt>
          <dd className="break-words font-mono text-[14px]">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
