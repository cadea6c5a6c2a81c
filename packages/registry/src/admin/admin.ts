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
import { describeStore, type StoreDescription } from './describe-store.ts'

/** Methods that query the database throw `unavailable` if the database cannot be reached. */
export interface Admin {
  /** Lists all accounts, without secrets. */
  listUsers(): Promise<(User & { is_system: boolean })[]>
  /**
   * Gives an account a new random password, ends its sessions and revokes its API keys. Returns the password, and the
   * number of sessions ended and keys revoked.
   * @throws not-found if there is no such account, or it is a system account
   */
  resetPassword(
    username: string,
  ): Promise<{ password: string; sessionsEnded: number; keysRevoked: number }>
  /**
   * Collects garbage like the registry's hourly collection, but removes nothing from the trash, because this process
   * may not know the retention period for which the registry is configured. With `takesUnknown`, also collects unknown
   * objects if there are suspiciously many of them.
   */
  collectGarbage(options?: { takesUnknown?: boolean }): Promise<CollectedGarbage>
  /** The data of deleted files that is still retained. */
  trash: Pick<Trash, 'list' | 'size' | 'restore' | 'empty'>
  /** Hashes every stored file again, and reports missing and damaged files. */
  check(
    onProgress?: (bytesDone: number, bytesTotal: number) => void,
    signal?: AbortSignal,
  ): Promise<StoreCheck>
  /** Describes the store. With `isConfigured`, first adds the rules that an S3 bucket lacks. */
  describeStore(isConfigured: boolean): Promise<StoreDescription>
  close(): Promise<void>
}

/**
 * Opens the registry's data for an administrator on the registry's host. The registry need not be running. Throws a
 * `ConfigError` if the data folder contains no registry, or if the database and the store do not belong together.
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
        throw notFound(`${username} is a system account: it cannot sign in`)
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

    describeStore: (isConfigured) => describeStore(config, store, isConfigured),

    check: (onProgress, signal) => checkStore(db, store, onProgress, signal).catch(explain),

    close,
  }
}

/**
 * Gives the database and the store the same identity even if their identities differ, for example because one of the
 * two was restored from a backup. Returns how many of the objects listed in the database were looked up in the store,
 * and how many of those are missing. Throws a `ConfigError` while the registry is running.
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

/** Files and folders that show that a data folder belongs to a registry or is a backup of one. */
const traces = ['lock', 'registry.sqlite', 'database.json', 'store']

async function requireRegistry({ dataDirectory }: RegistryConfig) {
  for (const name of traces) if (await exists(join(dataDirectory, name))) return
  throw new ConfigError(
    `there is no registry in ${dataDirectory}: pass the registry's data folder with --data`,
  )
}

function dataOptions(config: RegistryConfig): DataOptions {
  return {
    ...config,
    onConnectionLost: () => undefined, // no action needed: the current statement fails, and the next one reconnects
    store: { baseUrl: () => config.baseUrl ?? '', reserveBytes: config.reserveBytes },
    probesStore: false,
    mayBeNew: false,
  }
}

/** Throws `error` or, if it means that the database cannot be reached, an error that explains this. */
function explain(error: Error): never {
  if (isDomainError(error) || !isUnavailable(error)) throw error
  const code = 'code' in error ? String(error.code) : 'unknown' // the message of an AggregateError may be empty
  throw unavailable(
    `the database is unreachable or closed the connection (${error.message || code}): try again`,
  )
}
