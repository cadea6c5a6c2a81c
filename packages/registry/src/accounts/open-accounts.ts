import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import { readSecret } from '../database/secret.ts'
import { throttle } from '../throttle.ts'
import {
  type AccountRepository,
  accountRepository,
  setupCodeName,
  systemUsername,
} from './account-repository.ts'
import { type ApiKeyRepository, apiKeyRepository } from './api-key-repository.ts'
import { type NetworkRepository, networkRepository } from './network-repository.ts'
import { type SessionRepository, sessionRepository } from './session-repository.ts'

type Dependencies = {
  db: Kysely<Database>
  log: { warn(details: object, message: string): void }
}

/** Accounts and their credentials: sessions, API keys, and the networks from which they are used. */
export interface Accounts {
  accounts: AccountRepository
  sessions: SessionRepository
  keys: ApiKeyRepository
  networks: NetworkRepository
  /** The setup code required for the first account; undefined once that account exists. The same on every node. */
  readSetupCode(): Promise<string | undefined>
  /** A token for the account that publishes the demo models, valid for one hour. */
  makeSystemToken(): Promise<string>
  /** Deletes ended sessions, and networks that have not been used for too long. */
  deleteExpired(): Promise<unknown>
}

/** Short enough to be typed; the rate limit for sign-ins bounds guesses. */
const setupCodeBytes = 6

export async function openAccounts({ db, log }: Dependencies): Promise<Accounts> {
  const onUnnoted = throttle(60_000, (error: unknown) =>
    log.warn({ err: error }, 'the last use of a credential could not be written'),
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
    async readSetupCode() {
      if (!(await accounts.isFirstMissing())) return undefined
      return readSecret(db, setupCodeName, setupCodeBytes)
    },
    async makeSystemToken() {
      const account = await accounts.getSystemAccount()
      return (await sessions.create(account, systemUsername, 3_600)).token
    },
    deleteExpired: () => Promise.all([sessions.deleteExpired(), networks.deleteOld()]),
  }
}
