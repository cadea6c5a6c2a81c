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
      title={isAdmin ? `Make ${username} a user?` : `Make ${username} an administrator?`}
      action={isAdmin ? 'Make a user' : 'Make an administrator'}
      isDangerous={isAdmin}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={submit}
      onClose={onClose}
    >
      {isAdmin ? (
        <p>
          {isSelf ? 'You' : username} will no longer be able to manage accounts, or to see and
          change the models of others. Links to files of private models stop working.
          {isSelf && ' This page will no longer exist for you.'}
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
