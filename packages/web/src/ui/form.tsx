import { type ReactNode, useEffect } from 'react'
import { explain } from './explain.ts'
import { useFocusOnError } from './field-errors.ts'

type Props = {
  title: string
  /** The label of the button that submits the form. */
  action: string
  isBusy: boolean
  error: Error | null
  /** Whether the fields themselves show the error. */
  hasFieldErrors: boolean
  onSubmit: (values: FormData, form: HTMLFormElement) => void
  /** Closes a form that has replaced the button that opened it. Such a form receives the focus when it opens. */
  onCancel?: () => void
  /** Shown next to the buttons. */
  note?: ReactNode
  className: string
  children: ReactNode
}

/** A form with a title above its fields, and its error and buttons below. It focuses the field with the error. */
export function Form({ title, action, isBusy, error, hasFieldErrors, onCancel, ...props }: Props) {
  const { onSubmit, note, className, children } = props
  const form = useFocusOnError(error)
  const isOpened = onCancel !== undefined
  useEffect(() => {
    if (isOpened) form.current?.querySelector('input')?.focus()
  }, [form, isOpened])
  return (
    <form
      ref={form}
      className={`grid gap-5 ${className}`}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(new FormData(event.currentTarget), event.currentTarget)
      }}
    >
      <h3 className="font-semibold text-[18px]">{title}</h3>
      {children}
      <p role="alert" className="text-[15px] text-roe-ink empty:hidden">
        {error && !hasFieldErrors && explain(error)}
      </p>
      <div className="flex items-center gap-3">
        <button type="submit" className={isOpened ? 'ctl-ink' : 'ctl'} disabled={isBusy}>
          {action}
        </button>
        {onCancel && (
          <button type="button" className="ctl" onClick={onCancel}>
            Cancel
          </button>
        )}
        {note}
      </div>
    </form>
  )
}
