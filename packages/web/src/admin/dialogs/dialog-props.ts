import type { AdminUser, PasswordReset } from '@shoal/protocol'

/** The properties that all account dialogs have. */
export type DialogProps = {
  user: AdminUser
  /** Whether the account is the visitor's own. */
  isSelf: boolean
  users: readonly AdminUser[]
  onReset: (reset: PasswordReset) => void
  /** Receives a sentence that describes the completed action. */
  onDone: (report: string) => void
  onClose: () => void
}
