import type { Login } from '@shoal/protocol'
import { unauthenticated } from '../errors.ts'
import type { AccountRepository } from './account-repository.ts'
import type { NetworkRepository } from './network-repository.ts'
import { isPassword } from './password.ts'
import type { SignInDelays } from './sign-in-delays.ts'

type Dependencies = {
  accounts: AccountRepository
  networks: NetworkRepository
  delays: SignInDelays
}

/** The origin of a sign-in, from `clientNetwork` and `clientSite`. */
type Origin = { network: string; site: string }

/**
 * Returns the account of these credentials. A wrong name and a wrong password get the same response in the same time:
 * the same two queries, the same hash, the same delays.
 */
export async function signIn(
  { accounts, networks, delays }: Dependencies,
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
  const isRight = await isPassword(credentials.password, passwordHash, lane).catch((error) => {
    attempt.takeBack() // no password was found to be wrong
    throw error
  })
  if (!account || !isRight) throw unauthenticated('wrong username or password')
  attempt.takeBack()
  return account
}
