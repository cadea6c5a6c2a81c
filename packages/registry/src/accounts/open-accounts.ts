import { throttle } from '@shoal/core/async'
import type { Log } from '@shoal/log'
import type { Kysely } from 'kysely'
import type { PasswordCost } from '../config.ts'
import type { Database } from '../database/schema.ts'
import { readSecret } from '../database/secret.ts'
import {
  type AccountRepository,
  accountRepository,
  setupCodeName,
  systemUsername,
} from './account-repository.ts'
import { type ApiKeyRepository, apiKeyRepository } from './api-key-repository.ts'
import { type NetworkRepository, networkRepository } from './network-repository.ts'
import { openPasswords, type Passwords } from './password.ts'
import { type SessionRepository, sessionRepository } from './session-repository.ts'

type Dependencies = {
  db: Kysely<Database>
  passwordCost: PasswordCost
  log: Pick<Log, 'warn'>
}

/** Accounts, their sessions and API keys, and the networks from which they have signed in. */
export interface Accounts {
  accounts: AccountRepository
  sessions: SessionRepository
  keys: ApiKeyRepository
  networks: NetworkRepository
  passwords: Passwords
  /**
   * Returns the setup code that is required to create the first account, or undefined if that account exists. The code
   * is the same on every node.
   */
  readSetupCode(): Promise<string | undefined>
  /** Creates a session token, valid for one hour, for the account that publishes the demo models. */
  makeSystemToken(): Promise<string>
  /** Deletes expired sessions, and networks whose last sign-in was more than 90 days ago. */
  deleteExpired(): Promise<unknown>
}

/** Size of the setup code. A short code is easy to type, and is safe because the rate limit `auth` limits guesses. */
const setupCodeBytes = 6

export async function openAccounts({ db, passwordCost, log }: Dependencies): Promise<Accounts> {
  const onUnnoted = throttle(60_000, (error: unknown) =>
    log.warn({ err: error }, 'could not record the last use of a credential'),
  )
  const accounts = accountRepository(db)
  const sessions = sessionRepository(db, onUnnoted)
  const keys = apiKeyRepository(db, onUnnoted)
  const networks = networkRepository(db, await readSecret(db, 'network-key'))
  return {
    accounts,
    sessions,
    keys,
    networks,
    passwords: openPasswords(passwordCost),
    async readSetupCode() {
      if (!(await accounts.isFirstMissing())) return undefined
      return readSecret(db, setupCodeName, setupCodeBytes)
    },
    async makeSystemToken() {
      const account = await accounts.getSystemAccount()
      return (await sessions.create(account, systemUsername, { lifetimeSeconds: 3_600 })).token
    },
    deleteExpired: () => Promise.all([sessions.deleteExpired(), networks.deleteOld()]),
  }
}
