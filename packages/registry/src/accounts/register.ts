import type { Registration } from '@shoal/protocol'
import { isSame } from '@shoal/server'
import type { Note } from '../audit/audit-log.ts'
import { conflict, forbidden } from '../errors.ts'
import {
  type Account,
  type AccountRepository,
  registrationClosed,
  usernameTaken,
} from './account-repository.ts'
import { checkNewPassword, type Passwords } from './password.ts'
import { isReservedUsername } from './reserved-usernames.ts'

type Dependencies = {
  accounts: AccountRepository
  passwords: Passwords
  isRegistrationOpen: boolean
  setupCode: string | undefined
}

/**
 * Creates a human account. The first one becomes an administrator, so creating it requires the setup code or, if the
 * registry has none, a request from the registry's own machine. With an invitation for an administrator, neither is
 * necessary.
 */
export async function register(
  { accounts, passwords, isRegistrationOpen, setupCode }: Dependencies,
  { username, password, email, setup_code, invitation }: Registration,
  {
    isFromThisMachine,
    note,
  }: {
    isFromThisMachine: boolean
    note: (account: Account, invitationId: string | undefined) => Note
  },
) {
  const isFirst = await accounts.isFirstMissing()
  if (!isRegistrationOpen && !isFirst && invitation === undefined) throw registrationClosed()
  await checkNewPassword(password, username, '/password')
  await requireFreeUsername(accounts, username)
  if (isFirst && setupCode === undefined && !isFromThisMachine && invitation === undefined) {
    throw forbidden(
      'the first account must be created on the registry’s own machine; if the registry is behind a proxy, set SHOAL_BASE_URL so that the registry prints a setup code',
      { code: 'setup_code_required' },
    )
  }
  return accounts.create({
    username,
    email: email ?? null,
    passwordHash: await passwords.hash(password),
    isRegistrationOpen,
    isAllowedToBeFirst:
      (setupCode === undefined && isFromThisMachine) ||
      (setupCode !== undefined && isSame(setup_code?.trim() ?? '', setupCode)),
    invitation,
    note,
  })
}

/** Throws if the username is taken or reserved. */
export async function requireFreeUsername(accounts: AccountRepository, username: string) {
  if (isReservedUsername(username)) {
    throw conflict(`the username ${username} is reserved: choose another one`, {
      code: 'username_reserved',
    })
  }
  if (await accounts.find(username)) throw usernameTaken(username)
}
