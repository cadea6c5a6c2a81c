import type { PasswordChange } from '@shoal/protocol'
import { forbidden } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { Caller } from './caller.ts'
import { checkNewPassword, hashPassword, isPassword } from './password.ts'

/** Sets a new password for who knows the current one, and ends the other sessions. */
export async function changePassword(
  accounts: AccountRepository,
  { accountId, username, credential }: Caller,
  { current_password, new_password }: PasswordChange,
) {
  checkNewPassword(new_password, username, '/new_password')
  const account = await accounts.get(accountId)
  if (!(await isPassword(current_password, account.password_hash))) {
    throw forbidden('the current password is wrong', { code: 'wrong_password' })
  }
  await accounts.changePassword(accountId, await hashPassword(new_password), credential.id)
}
