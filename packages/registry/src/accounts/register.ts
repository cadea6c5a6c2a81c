import type { Registration } from '@shoal/protocol'
import { conflict, forbidden } from '../errors.ts'
import { isSame } from '../is-same.ts'
import { type AccountRepository, registrationClosed } from './account-repository.ts'
import { checkNewPassword, hashPassword } from './password.ts'
import { isReservedUsername } from './reserved-usernames.ts'

type Dependencies = {
  accounts: AccountRepository
  isRegistrationOpen: boolean
  setupCode: string | undefined
}

/**
 * Creates a human account. The first one becomes an admin, so creating it requires the setup code or, if the registry
 * has none, a request from the registry's own machine.
 */
export async function register(
  { accounts, isRegistrationOpen, setupCode }: Dependencies,
  { username, password, email, setup_code }: Registration,
  isFromThisMachine: boolean,
) {
  const isFirst = await accounts.isFirstMissing()
  if (!isRegistrationOpen && !isFirst) throw registrationClosed()
  checkNewPassword(password, username, '/password')
  if (isReservedUsername(username)) {
    throw conflict(`the username ${username} is reserved: choose another one`, {
      code: 'username_reserved',
    })
  }
  if (isFirst && setupCode === undefined && !isFromThisMachine) {
    throw forbidden(
      'the first account must be created on the registry’s own machine; if the registry is behind a proxy, set SHOAL_BASE_URL so that the registry prints a setup code',
      { code: 'setup_code_required' },
    )
  }
  if (await accounts.find(username)) throw conflict(`the username ${username} is taken`)
  return accounts.create({
    username,
    email: email ?? null,
    passwordHash: await hashPassword(password),
    isRegistrationOpen,
    isAllowedToBeFirst: setupCode === undefined || isSame(setup_code?.trim() ?? '', setupCode),
  })
}
