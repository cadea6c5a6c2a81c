import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { Labeled } from './field.tsx'

type Props = Omit<ComponentProps<'input'>, 'type'> & {
  label: string
  error?: string | undefined
  hint?: string
}

export function PasswordField({ label, error, hint, ...input }: Props) {
  const [isShown, setShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <Labeled label={label} error={error} hint={hint}>
      {(control) => (
        <div className="relative">
          <input
            type={isShown ? 'text' : 'password'}
            className="field pr-11"
            {...control}
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
      )}
    </Labeled>
  )
}
