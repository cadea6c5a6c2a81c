import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { User } from '@shoal/protocol'
import { accountRepository, toUser } from '../accounts/account-repository.ts'
import { hashPassword } from '../accounts/password.ts'
import type { RegistryConfig } from '../config.ts'
import { takeDataDirectory } from '../data-directory.ts'
import { exists } from '../durable-file.ts'
import { ConfigError, isDomainError, notFound, unavailable } from '../errors.ts'
import { type CollectedGarbage, garbageCollection } from '../files/garbage/garbage-collection.ts'
import { openTrash, type Trash } from '../files/rows/trash.ts'
import { sampleObjects, writeIdentity } from '../identity/check-identity.ts'
import { type DataOptions, openData } from '../identity/open-data.ts'
import { isUnavailable } from '../unavailable.ts'
import { checkStore, type StoreCheck } from './check-store.ts'

/** Every method but `close` throws `unavailable` while the database cannot be reached. */
export interface Admin {
  /** Every account, without secrets. */
  listUsers(): Promise<(User & { is_system: boolean })[]>
  /**
   * Gives an account a new random password, ends its sessions and revokes its API keys. Returns the password and how
   * many there were.
   *
   * @throws not-found, also for a system account
   */
  resetPassword(
    username: string,
  ): Promise<{ password: string; sessionsEnded: number; keysRevoked: number }>
  /**
   * As the registry does by itself every hour, but nothing leaves the trash: how long it is kept is a setting of the
   * registry, which this process may not know. `takesUnknown`: also objects of which there are suspiciously many.
   */
  collectGarbage(options?: { takesUnknown?: boolean }): Promise<CollectedGarbage>
  /** Deleted bytes that are still kept. */
  trash: Pick<Trash, 'list' | 'size' | 'restore' | 'empty'>
  /** Hashes every stored file again and names what is wrong. */
  check(
    onProgress?: (bytesDone: number, bytesTotal: number) => void,
    signal?: AbortSignal,
  ): Promise<StoreCheck>
  /** Closes the connection to the database. */
  close(): Promise<void>
}

/**
 * The registry's data, for the operator, on the server's own machine: beside a running registry or without one. Throws a
 * `ConfigError` if there is no registry, or if database and store do not belong together.
 */
export async function openAdmin(config: RegistryConfig): Promise<Admin> {
  await requireRegistry(config)
  const { connection, store } = await openData(dataOptions(config)).catch(explain)
  const { unboundedDb: db, close } = connection
  const accounts = accountRepository(db)
  const trash = openTrash({ db, store, retentionDays: config.trashDays })

  return {
    async listUsers() {
      const rows = await accounts.list().catch(explain)
      return rows.map((row) => ({ ...toUser(row), is_system: row.is_system === 1 }))
    },

    async resetPassword(username) {
      const account = await accounts.find(username).catch(explain)
      if (!account) throw notFound(`no user ${username}`)
      if (account.is_system === 1)
        throw notFound(`${username} is a system account: it cannot log in`)
      const password = randomBytes(12).toString('base64url')
      const passwordHash = await hashPassword(password)
      const ended = await accounts.resetPassword(account.id, passwordHash).catch(explain)
      return { password, sessionsEnded: ended.sessions, keysRevoked: ended.keys }
    },

    collectGarbage: (options) =>
      garbageCollection(db, store, trash)
        .collect({ ...options, keepsTrash: true })
        .catch(explain),

    trash: {
      list: () => trash.list().catch(explain),
      size: () => trash.size().catch(explain),
      restore: () => trash.restore().catch(explain),
      empty: () => trash.empty().catch(explain),
    },

    check: (onProgress, signal) => checkStore(db, store, onProgress, signal).catch(explain),

    close,
  }
}

/**
 * Makes database and store one registry, although they do not say so: after a backup of one of them was restored. Returns
 * how many of the objects that the database names were looked for in the store, and how many are not there. Throws a
 * `ConfigError` while the registry runs.
 */
export async function adoptStore(config: RegistryConfig) {
  await requireRegistry(config)
  const giveBackDirectory = await takeDataDirectory(config.dataDirectory)
  try {
    const { connection, store } = await openData({
      ...dataOptions(config),
      identify: writeIdentity,
    }).catch(explain)
    try {
      return await sampleObjects(connection.unboundedDb, store)
    } finally {
      await connection.close()
    }
  } finally {
    giveBackDirectory()
  }
}

/** What a registry, or its backup, leaves in its folder. */
const traces = ['lock', 'registry.sqlite', 'database.json', 'store']

async function requireRegistry({ dataDirectory }: RegistryConfig) {
  for (const name of traces) if (await exists(join(dataDirectory, name))) return
  throw new ConfigError(`there is no registry in ${dataDirectory}: name its folder with --data`)
}

function dataOptions(config: RegistryConfig): DataOptions {
  return {
    ...config,
    onConnectionLost: () => undefined, // the statement that needed it fails, and the next one connects again
    store: { baseUrl: () => config.baseUrl ?? '', reserveBytes: config.reserveBytes },
    mayBeNew: false,
  }
}

/** Says in a sentence that the database is away; other errors stay what they are. */
function explain(error: Error): never {
  if (isDomainError(error) || !isUnavailable(error)) throw error
  const code = 'code' in error ? String(error.code) : 'unknown' // an AggregateError has no message
  throw unavailable(
    `the database cannot be reached or has ended the connection (${error.message || code}): try again`,
  )
}
