import { type ReactNode, type RefObject, useId } from 'react'
import { explain } from './explain.ts'

type Props = {
  dialog: RefObject<HTMLDialogElement | null>
  title: string
  /** The label of the button that confirms. */
  action: string
  /** The label of the button that only closes the dialog. */
  cancel?: string
  isBusy?: boolean
  isReady?: boolean
  error?: Error | null
  onConfirm: () => void
  /** Called after the dialog has closed, for whatever reason. */
  onClose?: () => void
  children: ReactNode
}

/** Asks the visitor to confirm a destructive action. The native dialog traps focus and closes on Esc. */
export function ConfirmDialog(props: Props) {
  const { dialog, title, action, cancel = 'Cancel', onConfirm, onClose, children } = props
  const { isBusy, isReady = true, error } = props
  const id = useId()
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      className="panel m-auto w-[min(440px,calc(100vw-40px))] text-ink backdrop:bg-[oklch(0.2_0.03_230/0.5)]"
    >
      <h2 id={id} className="break-words font-semibold text-[19px]">
        {title}
      </h2>
      <div className="mt-2 break-words text-[15px] text-ink-2">{children}</div>
      <p role="alert" className="mt-3 text-[15px] text-roe-ink empty:hidden">
        {error && explain(error)}
      </p>
      <div className="mt-5 flex justify-end gap-3">
        <button type="button" className="ctl" onClick={() => dialog.current?.close()}>
          {cancel}
        </button>
        <button
          type="button"
          className="ctl-ink bg-roe-ink hover:opacity-100"
          disabled={isBusy || !isReady}
          onClick={onConfirm}
        >
          {action}
        </button>
      </div>
    </dialog>
  )
}
