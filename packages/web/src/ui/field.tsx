import { type ComponentProps, type ReactNode, useId } from 'react'

type Labels = {
  label: string
  /** The validation error, if any. */
  error?: string | undefined
  hint?: ReactNode
}

/** What a control needs to be connected with its label and its note. */
type Control = { id: string; 'aria-invalid': boolean; 'aria-describedby': string | undefined }

/** A control with its label above and its error or hint below. */
export function Labeled({
  label,
  error,
  hint,
  children,
}: Labels & { children: (control: Control) => ReactNode }) {
  const id = useId()
  const note = error ?? hint
  const hasNote = note !== undefined
  const noteId = `${id}-note`
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-invalid': error !== undefined,
        'aria-describedby': hasNote ? noteId : undefined,
      })}
      {hasNote && (
        <FieldNote id={noteId} isError={error !== undefined}>
          {note}
        </FieldNote>
      )}
    </div>
  )
}

export const Field = ({
  label,
  error,
  hint,
  className = 'field',
  ...input
}: Labels & ComponentProps<'input'>) => (
  <Labeled label={label} error={error} hint={hint}>
    {(control) => <input className={className} {...control} {...input} />}
  </Labeled>
)

/** Like `Field`, but for several lines of text. */
export const TextArea = ({ label, error, hint, ...area }: Labels & ComponentProps<'textarea'>) => (
  <Labeled label={label} error={error} hint={hint}>
    {(control) => <textarea className="field" {...control} {...area} />}
  </Labeled>
)

type NoteProps = { id: string; isError: boolean; children: ReactNode }

export function FieldNote({ id, isError, children }: NoteProps) {
  return (
    <p id={id} className={`mt-1.5 text-[14px] ${isError ? 'text-roe-ink' : 'text-ink-3'}`}>
      {children}
    </p>
  )
}
