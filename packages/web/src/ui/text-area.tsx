import { type ComponentProps, useId } from 'react'
import { FieldNote } from './field.tsx'

type Props = ComponentProps<'textarea'> & { label: string; error?: string | undefined }

export function TextArea({ label, error, className = 'field', ...area }: Props) {
  const id = useId()
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={className}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-note`}
        {...area}
      />
      {error !== undefined && (
        <FieldNote id={`${id}-note`} isError>
          {error}
        </FieldNote>
      )}
    </div>
  )
}
