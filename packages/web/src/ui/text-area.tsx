import { type ComponentProps, useId } from 'react'
import { FieldNote } from './field.tsx'

type Props = ComponentProps<'textarea'> & {
  label: string
  /** The validation error, if any. */
  error?: string | undefined
  hint?: string
}

/** Like `Field`, but for several lines of text. */
export function TextArea({ label, error, hint, className = 'field', ...area }: Props) {
  const id = useId()
  const note = error ?? hint
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={className}
        aria-invalid={error !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        {...area}
      />
      {note !== undefined && (
        <FieldNote id={`${id}-note`} isError={error !== undefined}>
          {note}
        </FieldNote>
      )}
    </div>
  )
}
