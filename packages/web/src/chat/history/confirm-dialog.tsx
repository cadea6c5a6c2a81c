import { useEffect, useId, useRef } from 'react'

export type Confirmation = { title: string; detail: string; act: () => void }

type Props = { confirmation: Confirmation | undefined; onClose: () => void }

/** Before something goes that cannot come back. */
export function ConfirmDialog({ confirmation, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    if (confirmation) dialog.current?.showModal()
    else dialog.current?.close()
  }, [confirmation])

  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      className="m-auto w-[26rem] max-w-[calc(100vw-2rem)] rounded-card border border-line bg-surface p-6 text-ink backdrop:bg-black/40"
      onClose={onClose}
    >
      <h2 id={`${id}-title`} className="font-semibold text-[20px]">
        {confirmation?.title}
      </h2>
      <p className="mt-2 break-words text-[15px] text-ink-2">{confirmation?.detail}</p>
      <div className="mt-5 flex justify-end gap-2">
        <button type="button" className="ctl" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="ctl-ink"
          onClick={() => {
            confirmation?.act()
            onClose()
          }}
        >
          Delete
        </button>
      </div>
    </dialog>
  )
}
