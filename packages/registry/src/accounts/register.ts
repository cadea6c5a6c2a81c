import type { Registration } from '@shoal/protocol'
import { conflict } from '../errors.ts'
import { isSame } from '../store/presigned-url.ts'
import { type AccountRepository, registrationClosed } from './account-repository.ts'
import { checkNewPassword, hashPassword } from './password.ts'
import { isReservedUsername } from './reserved-usernames.ts'

type Dependencies = {
  accounts: AccountRepository
  isRegistrationOpen: boolean
  setupCode: string | undefined
}

/** Creates a human account. The first one becomes admin, and shows the setup code where one is asked for. */
export async function register(
  { accounts, isRegistrationOpen, setupCode }: Dependencies,
  { username, password, email, setup_code }: Registration,
) {
  const isFirst = await accounts.isFirstMissing()
  if (!isRegistrationOpen && !isFirst) throw registrationClosed()
  checkNewPassword(password, username, '/password')
  if (isReservedUsername(username)) {
    throw conflict(`the username ${username} is reserved: choose another one`, {
      code: 'username_reserved',
    })
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
