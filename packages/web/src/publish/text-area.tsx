import { type ComponentProps, useId } from 'react'
import { FieldNote } from '../ui/field.tsx'

type Props = ComponentProps<'textarea'> & {
  label: string
  error?: string | undefined
  hint: string
}

/** As `ui/field.tsx`, for more than a line. */
export function TextArea({ label, error, hint, className = '', ...area }: Props) {
  const id = useId()
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={`field block ${className}`}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
        {...area}
      />
      <FieldNote id={`${id}-note`} isError={error !== undefined}>
        {error ?? hint}
      </FieldNote>
    </div>
  )
}
