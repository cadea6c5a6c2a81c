import { FormDialog } from '../../ui/form-dialog.tsx'
import type { DialogProps } from './dialog-props.ts'
import { useUpdate } from './use-update.ts'

type Props = Pick<DialogProps, 'user' | 'isSelf' | 'onDone' | 'onClose'>

export function RoleDialog({ user: { username, role }, isSelf, onDone, onClose }: Props) {
  const update = useUpdate(username)
  const isAdmin = role === 'admin'

  function submit(close: () => void) {
    const onSuccess = () => {
      onDone(`${username} is now ${isAdmin ? 'a user' : 'an administrator'}.`)
      close()
    }
    update.mutate({ role: isAdmin ? 'user' : 'admin' }, { onSuccess })
  }

  return (
    <FormDialog
      title={`Change the role of ${username} to ${isAdmin ? 'user' : 'administrator'}?`}
      action={isAdmin ? 'Change to user' : 'Change to administrator'}
      isDangerous={isAdmin}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {isAdmin ? (
        <p>
          {isSelf ? 'You' : username} can no longer manage accounts, see other users’ private
          models, or change other users’ models. Links to files of private models stop working for
          everyone: direct links within 24 hours, other links immediately.
          {isSelf && ' You also lose access to this page.'}
        </p>
      ) : (
        <p>
          Administrators can manage all accounts, and can see and change all models, including
          private ones.
        </p>
      )}
    </FormDialog>
  )
}
