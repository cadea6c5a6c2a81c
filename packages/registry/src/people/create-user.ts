import { randomBytes } from 'node:crypto'
import type { NewUser } from '@shoal/protocol'
import type { AccountRepository } from '../accounts/account-repository.ts'
import type { Passwords } from '../accounts/password.ts'
import { requireFreeUsername } from '../accounts/register.ts'
import type { Actor } from '../audit/actor.ts'
import { note, user } from '../audit/audit-log.ts'

/** Returns a random password with 96 bits of entropy. */
export const randomPassword = (): string => randomBytes(12).toString('base64url')

/**
 * Creates an account with a random password, and returns the password.
 * @throws conflict if the username is taken or reserved
 */
export async function createUser(
  { accounts, passwords }: { accounts: AccountRepository; passwords: Passwords },
  { username, email, role = 'user' }: NewUser,
  actor: Actor,
): Promise<string> {
  await requireFreeUsername(accounts, username)
  const password = randomPassword()
  await accounts.create({
    username,
    email: email ?? null,
    passwordHash: await passwords.hash(password),
    isAllowedToBeFirst: true,
    isRegistrationOpen: true,
    isAdmin: role === 'admin',
    note: ({ is_admin }) =>
      note(actor, 'account.created', user(username), { role: is_admin === 1 ? 'admin' : 'user' }),
  })
  return password
}
