import type { PasswordChange } from '@shoal/protocol'
import type { Note } from '../audit/audit-log.ts'
import { forbidden } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { Caller } from './caller.ts'
import { checkNewPassword, hashPassword, isPassword } from './password.ts'
import type { SignInDelays } from './sign-in-delays.ts'

type Dependencies = { accounts: AccountRepository; delays: SignInDelays }

/**
 * Sets a new password if the caller provides the current one, and ends the account's other sessions. Does nothing if
 * the new password is already the account's, because a client repeats the request if the response is lost. This request
 * itself is never delayed, but a wrong current password counts as a failed sign-in and can delay sign-ins from networks
 * that the account has not used.
 */
export async function changePassword(
  { accounts, delays }: Dependencies,
  { accountId, username, credential }: Caller,
  { current_password, new_password }: PasswordChange,
  note: Note,
) {
  checkNewPassword(new_password, username, '/new_password')
  const account = await accounts.get(accountId)
  if (!(await isPassword(current_password, account.password_hash, 'first'))) {
    if (await isPassword(new_password, account.password_hash, 'first')) return
    delays.begin(username, undefined)
    throw forbidden('the current password is wrong', { code: 'wrong_password' })
  }
  const passwordHash = await hashPassword(new_password, 'first')
  await accounts.changePassword(accountId, passwordHash, credential.id, note)
}
