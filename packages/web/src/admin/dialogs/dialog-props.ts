import type { AdminUser, PasswordReset } from '@shoal/protocol'

/** What the dialogs of an account have in common. */
export type DialogProps = {
  user: AdminUser
  /** Whether the account is the visitor's own. */
  isSelf: boolean
  users: readonly AdminUser[]
  onReset: (reset: PasswordReset) => void
  /** Receives a sentence that says what was done. */
  onDone: (report: string) => void
  onClose: () => void
}
