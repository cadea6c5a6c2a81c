import { formatBytes, plural } from '@shoal/core/units'
import type { ModelRecord } from '@shoal/protocol/client'
import { Globe, Lock } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Name } from '../../ui/name.tsx'
import type { ChosenFile } from './chosen-file.ts'
import type { Details } from './details.ts'
import { Part } from './part.tsx'

type Props = {
  details: Details
  edit: (changes: Partial<Details>) => void
  files: readonly ChosenFile[]
  sizeBytes: number
  /** The visitor's own model with this name, if there is one. */
  existing: ModelRecord | undefined
  isBusy: boolean
}

export function ReviewPart({ details, edit, files, sizeBytes, existing, isBusy }: Props) {
  const isPublic = existing?.is_public ?? details.isPublic
  const what = `${plural(files.length, 'file')}, ${formatBytes(sizeBytes)}`
  return (
    <Part number={3} title="Review">
      {!existing && <Visibility isPublic={isPublic} edit={edit} />}
      <div className="mt-6 flex flex-wrap items-center gap-x-5 gap-y-3">
        <button type="submit" className="ctl-ink h-11 px-6" disabled={isBusy}>
          {isBusy ? 'Publishing …' : existing ? 'Add files' : 'Publish'}
        </button>
        {files.length > 0 && (
          <p className="min-w-0 break-words text-[15px] text-ink-2">
            {what}, {existing ? 'to' : 'as'}{' '}
            <span className="break-all font-mono text-[14px] text-ink">
              <Name text={details.name || '…'} />
            </span>
            , {isPublic ? 'public' : 'private'}
          </p>
        )}
      </div>
    </Part>
  )
}

function Visibility({ isPublic, edit }: { isPublic: boolean; edit: Props['edit'] }) {
  const group = useId()
  const choose = (chosen: boolean) => () => edit({ isPublic: chosen })
  return (
    <fieldset className="grid gap-3 sm:grid-cols-2">
      <legend className="label">Visibility</legend>
      <Choice
        group={group}
        icon={<Globe size={18} aria-hidden />}
        title="Public"
        text="Everyone with access to this registry."
        isChosen={isPublic}
        choose={choose(true)}
      />
      <Choice
        group={group}
        icon={<Lock size={18} aria-hidden />}
        title="Private"
        text="Only you, members you add, and administrators."
        isChosen={!isPublic}
        choose={choose(false)}
      />
    </fieldset>
  )
}

type ChoiceProps = {
  group: string
  icon: ReactNode
  title: string
  text: string
  isChosen: boolean
  choose: () => void
}

function Choice({ group, icon, title, text, isChosen, choose }: ChoiceProps) {
  return (
    <label className="flex cursor-pointer gap-3 rounded-card border border-line bg-surface p-4 outline-offset-2 outline-roe-ink hover:border-line-strong has-[:checked]:border-ink has-[:focus-visible]:outline-2">
      <input
        type="radio"
        name={group}
        className="mt-1 size-4 shrink-0 accent-roe-ink"
        checked={isChosen}
        onChange={choose}
      />
      <span className="min-w-0">
        <span className="flex items-center gap-2 font-semibold">
          {icon}
          {title}
        </span>
        <span className="block text-[14px] text-ink-2">{text}</span>
      </span>
    </label>
  )
}
