import type { DialogProps } from './dialog-props.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { QuotaDialog } from './quota-dialog.tsx'
import { RemoveDialog } from './remove-dialog.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { StatusDialog } from './status-dialog.tsx'

export type Dialog = keyof typeof dialogs

const dialogs = {
  role: RoleDialog,
  quota: QuotaDialog,
  keys: KeysDialog,
  password: PasswordDialog,
  status: StatusDialog,
  remove: RemoveDialog,
}

/** The dialog for an action on an account. It explains the action, and shows the error if the action fails. */
export function AccountDialog({ dialog, ...props }: DialogProps & { dialog: Dialog }) {
  const Chosen = dialogs[dialog]
  return <Chosen {...props} />
}
