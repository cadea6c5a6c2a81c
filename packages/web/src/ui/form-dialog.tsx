import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { explain } from './explain.ts'

type Props = {
  title: string
  /** The label of the button that submits the form. Without it, the dialog can only be closed. */
  action?: string
  isDangerous?: boolean
  isBusy?: boolean
  isReady?: boolean
  error?: Error | null
  onSubmit?: (close: () => void) => void
  /** Called after the dialog has closed, for whatever reason. */
  onClose: () => void
  children: ReactNode
}

/** A form in a modal dialog, which is open as long as it is rendered. It closes on Esc, and restores the focus. */
export function FormDialog(props: Props) {
  const { title, action, isDangerous, isBusy, isReady = true, error, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const close = () => dialog.current?.close()
  useEffect(() => dialog.current?.showModal(), [])

  function submit(event: FormEvent) {
    event.preventDefault()
    props.onSubmit?.(close)
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      className="panel m-auto w-[min(440px,calc(100vw-40px))] text-ink backdrop:bg-[oklch(0.2_0.03_230/0.5)]"
      onClose={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <form onSubmit={submit}>
        <h2 id={id} className="break-words font-semibold text-[19px]">
          {title}
        </h2>
        <div className="mt-2 grid gap-4 break-words text-[15px] text-ink-2">{children}</div>
        <p role="alert" className="mt-3 text-[15px] text-roe-ink empty:hidden">
          {error && explain(error)}
        </p>
        <div className="mt-5 flex justify-end gap-3">
          <button type="button" className="ctl" onClick={close}>
            {action === undefined ? 'Close' : 'Cancel'}
          </button>
          {action !== undefined && (
            <button
              type="submit"
              className={`ctl-ink ${isDangerous ? 'bg-roe-ink hover:opacity-100' : ''}`}
              disabled={isBusy || !isReady}
            >
              {action}
            </button>
          )}
        </div>
      </form>
    </dialog>
  )
}
