import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useId, useState } from 'react'
import { FieldNote } from './field.tsx'

type Props = Omit<ComponentProps<'input'>, 'type'> & {
  label: string
  error?: string | undefined
  hint?: string
}

export function PasswordField({ label, error, hint, ...input }: Props) {
  const id = useId()
  const [isShown, setShown] = useState(false)
  const note = error ?? hint
  const Icon = isShown ? EyeOff : Eye
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <div className="relative">
        <input
          id={id}
          type={isShown ? 'text' : 'password'}
          className="field pr-11"
          aria-invalid={error !== undefined}
          aria-describedby={note === undefined ? undefined : `${id}-note`}
          {...input}
        />
        <button
          type="button"
          className="absolute top-1 right-1 grid size-8 place-items-center rounded-md text-ink-2 hover:bg-sunken"
          aria-label={isShown ? 'Hide the password' : 'Show the password'}
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        >
          <Icon size={17} aria-hidden />
        </button>
      </div>
      {note !== undefined && (
        <FieldNote id={`${id}-note`} isError={error !== undefined}>
          {note}
        </FieldNote>
      )}
    </div>
  )
}
