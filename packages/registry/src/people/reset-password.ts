import type { PasswordReset } from '@shoal/protocol'
import type { AccountRepository } from '../accounts/account-repository.ts'
import type { Passwords } from '../accounts/password.ts'
import type { Actor } from '../audit/actor.ts'
import { note, user } from '../audit/audit-log.ts'
import { notFound, unknownUser } from '../errors.ts'
import { randomPassword } from './create-user.ts'

/**
 * Gives an account a new random password, ends its sessions and revokes its API keys. Returns the password, and the
 * numbers of sessions and keys.
 * @throws not-found if there is no such account, or if it is the system account
 */
export async function resetPassword(
  { accounts, passwords }: { accounts: AccountRepository; passwords: Passwords },
  username: string,
  actor: Actor,
): Promise<PasswordReset> {
  const account = await accounts.find(username.toLowerCase())
  if (!account || account.removed_at !== null) throw unknownUser(username)
  if (account.is_system === 1) {
    throw notFound(`the account ${username} is the system account, which cannot sign in`)
  }
  const password = randomPassword()
  const { sessions, keys } = await accounts.resetPassword(
    account.id,
    await passwords.hash(password),
    note(actor, 'account.password_reset', user(account.username)),
  )
  return { password, sessions_ended: sessions, keys_revoked: keys }
}
