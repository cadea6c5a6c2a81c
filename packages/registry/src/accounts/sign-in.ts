import type { Login } from '@shoal/protocol'
import { unauthenticated } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { NetworkRepository } from './network-repository.ts'
import type { Passwords } from './password.ts'
import type { SignInDelays } from './sign-in-delays.ts'

type Dependencies = {
  accounts: AccountRepository
  networks: NetworkRepository
  passwords: Passwords
  delays: SignInDelays
}

/** Where a sign-in comes from, as determined by `clientNetwork` and `clientSite`. */
type Origin = { network: string; site: string }

/**
 * Returns the account with these credentials. A wrong username and a wrong password get the same response after the
 * same time, because both cases run the same two queries, compute one hash and are subject to the same delays.
 */
export async function signIn(
  { accounts, networks, passwords, delays }: Dependencies,
  credentials: Login,
  { network, site }: Origin,
) {
  const username = credentials.username.toLowerCase()
  const [account, isOwnNetwork] = await Promise.all([
    accounts.find(username),
    networks.isKnown(username, network),
  ])
  const attempt = delays.begin(username, isOwnNetwork ? undefined : site)
  const lane = isOwnNetwork ? 'first' : 'later'
  const passwordHash = account?.password_hash ?? null
  const isRight = await passwords
    .matches(credentials.password, passwordHash, lane)
    .catch((error) => {
      attempt.takeBack() // the password was not checked, so this is not a failed attempt
      throw error
    })
  if (!account || !isRight) throw unauthenticated('wrong username or password')
  attempt.takeBack()
  return account
}
