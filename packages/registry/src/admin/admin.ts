import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { accountRepository, toUser } from '../accounts/account-repository.ts'
import { hashPassword } from '../accounts/password.ts'
import type { RegistryConfig } from '../config.ts'
import { takeDataDirectory } from '../data-directory.ts'
import { exists } from '../durable-file.ts'
import { ConfigError, notFound } from '../errors.ts'
import { garbageCollection } from '../files/garbage-collection.ts'
import { openTrash } from '../files/trash.ts'
import { sampleObjects, writeIdentity } from '../identity/check-identity.ts'
import { type DataOptions, openData } from '../identity/open-data.ts'
import { checkStore } from './check-store.ts'

export type Admin = Awaited<ReturnType<typeof openAdmin>>

/**
 * The registry's data, for the operator, on the server's own machine: beside a running registry or without one. Throws a
 * `ConfigError` if there is no registry, or if database and store do not belong together.
 */
export async function openAdmin(config: RegistryConfig) {
  await requireRegistry(config)
  const { connection, store } = await openData(dataOptions(config))
  const { db, close } = connection
  const accounts = accountRepository(db)
  const trash = openTrash({ db, store, keptDays: config.trashDays })

  return {
    /** Every account, without secrets. */
    async listUsers() {
      const rows = await accounts.list()
      return rows.map((row) => ({ ...toUser(row), is_system: row.is_system === 1 }))
    },

    /** Gives an account a new random password, which is returned, and ends its sessions. */
    async resetPassword(username: string): Promise<string> {
      const account = await accounts.find(username)
      if (!account) throw notFound(`no user ${username}`)
      if (account.is_system === 1)
        throw notFound(`${username} is a system account: it cannot log in`)
      const password = randomBytes(12).toString('base64url')
      await accounts.changePassword(account.id, await hashPassword(password), undefined)
      return password
    },

    /** As the registry does by itself every hour. `takesUnknown`: also objects of which there are suspiciously many. */
    collectGarbage: (options: { takesUnknown: boolean }) =>
      garbageCollection(db, store, trash).collect(options),

    /** Deleted bytes that are still kept. */
    trash,

    /** Hashes every stored file again and names what is wrong. */
    check: (onProgress?: (bytesDone: number, bytesTotal: number) => void, signal?: AbortSignal) =>
      checkStore(db, store, onProgress, signal),

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
    })
    try {
      return await sampleObjects(connection.db, store)
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
    onConnectionLost: (error) => {
      throw error
    },
    baseUrl: () => config.baseUrl ?? '',
    mayBeNew: false,
  }
}
