import type { PasswordChange } from '@shoal/protocol'
import { forbidden } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { Caller } from './caller.ts'
import { checkNewPassword, hashPassword, isPassword } from './password.ts'
import type { SignInDelays } from './sign-in-delays.ts'

type Dependencies = { accounts: AccountRepository; delays: SignInDelays }

/**
 * Sets a new password for a caller who knows the current one, and ends the other sessions. A session is never delayed;
 * a wrong password counts against sign-ins from elsewhere.
 */
export async function changePassword(
  { accounts, delays }: Dependencies,
  { accountId, username, credential }: Caller,
  { current_password, new_password }: PasswordChange,
) {
  checkNewPassword(new_password, username, '/new_password')
  const account = await accounts.get(accountId)
  if (!(await isPassword(current_password, account.password_hash, 'first'))) {
    delays.begin(username, undefined)
    throw forbidden('the current password is wrong', { code: 'wrong_password' })
  }
  const passwordHash = await hashPassword(new_password, 'first')
  await accounts.changePassword(accountId, passwordHash, credential.id)
}
