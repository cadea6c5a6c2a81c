import type { PasswordChange } from '@shoal/protocol'
import type { Note } from '../audit/audit-log.ts'
import { forbidden } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { Caller } from './caller.ts'
import { checkNewPassword, type Passwords } from './password.ts'
import type { SignInDelays } from './sign-in-delays.ts'

type Dependencies = { accounts: AccountRepository; passwords: Passwords; delays: SignInDelays }

/**
 * Sets a new password if the caller provides the current one, and ends the account's other sessions. Does nothing if
 * the new password is already the account's, because a client repeats the request if the response is lost. This request
 * itself is never delayed, but a wrong current password counts as a failed sign-in and can delay sign-ins from networks
 * that the account has not used.
 */
export async function changePassword(
  { accounts, passwords, delays }: Dependencies,
  { accountId, username, credential }: Caller,
  { current_password, new_password }: PasswordChange,
  note: Note,
) {
  await checkNewPassword(new_password, username, '/new_password')
  const account = await accounts.get(accountId)
  if (!(await passwords.matches(current_password, account.password_hash, 'first'))) {
    if (await passwords.matches(new_password, account.password_hash, 'first')) return
    delays.begin(username, undefined)
    throw forbidden('the current password is wrong', { code: 'wrong_password' })
  }
  const passwordHash = await passwords.hash(new_password, 'first')
  await accounts.changePassword(accountId, passwordHash, credential.id, note)
}
