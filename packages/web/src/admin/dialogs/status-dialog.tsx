import { FormDialog } from '../../ui/form-dialog.tsx'
import type { DialogProps } from './dialog-props.ts'
import { useUpdate } from './use-update.ts'

type Props = Pick<DialogProps, 'user' | 'isSelf' | 'onDone' | 'onClose'>

export function StatusDialog({ user: { username, disabled_at }, isSelf, onDone, onClose }: Props) {
  const update = useUpdate(username)
  const isActive = disabled_at === null

  function submit(close: () => void) {
    const onSuccess = () => {
      onDone(`${username} is ${isActive ? 'disabled' : 'enabled'}.`)
      close()
    }
    update.mutate({ is_disabled: isActive }, { onSuccess })
  }

  return (
    <FormDialog
      title={`${isActive ? 'Disable' : 'Enable'} ${username}?`}
      action={isActive ? 'Disable account' : 'Enable account'}
      isDangerous={isActive}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {isActive ? (
        <>
          <p>
            {isSelf ? 'You' : username} can no longer sign in. All sessions
            {isSelf && ', including this one,'} end immediately. API keys do not work until the
            account is enabled again.
          </p>
          <p>
            The account’s models are kept. Direct links that the account has already received may
            continue to work for up to 24 hours.
          </p>
        </>
      ) : (
        <p>
          {username} can sign in again, with the same password. API keys that were not revoked work
          again.
        </p>
      )}
    </FormDialog>
  )
}
