import { type ComponentProps, type ReactNode, useId } from 'react'

type Props = ComponentProps<'input'> & {
  label: string
  /** The validation error, if any. */
  error?: string | undefined
  hint?: ReactNode
}

/** An input with its label above and its error or hint below. */
export function Field({ label, error, hint, className = 'field', ...input }: Props) {
  const id = useId()
  const note = error ?? hint
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className={className}
        aria-invalid={error !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        {...input}
      />
      {note !== undefined && (
        <FieldNote id={`${id}-note`} isError={error !== undefined}>
          {note}
        </FieldNote>
      )}
    </div>
  )
}

type NoteProps = { id: string; isError: boolean; children: ReactNode }

export function FieldNote({ id, isError, children }: NoteProps) {
  return (
    <p id={id} className={`mt-1.5 text-[14px] ${isError ? 'text-roe-ink' : 'text-ink-3'}`}>
      {children}
    </p>
  )
}
