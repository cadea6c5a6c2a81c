import { adminCalls } from '@shoal/protocol/client'
import { useCalls } from '../../api/context.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { useAdminMutation } from '../calls/use-admin-mutation.ts'
import type { DialogProps } from './dialog-props.ts'

type Props = Pick<DialogProps, 'user' | 'onReset' | 'onClose'>

export function PasswordDialog({ user: { username }, onReset, onClose }: Props) {
  const client = useCalls(adminCalls)
  const reset = useAdminMutation(() => client.resetPassword(username))

  // The dialog is removed rather than closed, so that the panel with the password can receive the focus.
  const submit = () =>
    reset.mutate(undefined, {
      onSuccess(result) {
        onClose()
        onReset(result)
      },
    })

  return (
    <FormDialog
      title={`Reset the password of ${username}?`}
      action="Reset password"
      isDangerous
      isBusy={reset.isPending}
      error={reset.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        {username} gets a random password, which is shown to you once. All sessions end, and all API
        keys are revoked. This cannot be undone.
      </p>
    </FormDialog>
  )
}
