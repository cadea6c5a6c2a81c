import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

type Props = {
  /** Whether there are unsaved changes. */
  isDirty: boolean
  /** What happens to the changes if the visitor leaves. */
  children: string
}

/**
 * Asks for confirmation before the visitor leaves the page with unsaved changes. If the visitor follows a link or goes
 * back, a dialog is shown. If the visitor reloads or closes the page or opens another site, the browser shows its own
 * prompt.
 */
export function WarnBeforeLeaving({ isDirty, children }: Props) {
  const { history } = useRouter()
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<(isBlocked: boolean) => void>(undefined)
  useEffect(() => {
    if (!isDirty) return undefined
    return history.block({
      enableBeforeUnload: true,
      blockerFn({ currentLocation, nextLocation }) {
        if (currentLocation.pathname === nextLocation.pathname) return false
        if (!dialog.current?.open) dialog.current?.showModal()
        return new Promise((resolve) => {
          answer.current = resolve
        })
      },
    })
  }, [history, isDirty])

  function leave() {
    answer.current?.(false)
    dialog.current?.close()
  }

  return (
    <ConfirmDialog
      dialog={dialog}
      title="Leave without saving?"
      action="Leave"
      cancel="Stay"
      onConfirm={leave}
      onClose={() => answer.current?.(true)}
    >
      {children}
    </ConfirmDialog>
  )
}
