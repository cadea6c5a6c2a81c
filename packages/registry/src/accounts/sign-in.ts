import type { Login } from '@shoal/protocol'
import { unauthenticated } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import { isPassword } from './password.ts'

/** The account of these credentials. A wrong name and a wrong password answer alike, and as slowly. */
export async function signIn(accounts: AccountRepository, { username, password }: Login) {
  const account = await accounts.find(username.toLowerCase())
  const isRight = await isPassword(password, account?.password_hash ?? null)
  if (!account || !isRight) throw unauthenticated('wrong username or password')
  return account
}
