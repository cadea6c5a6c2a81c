import { randomBytes } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { accountRepository, toUser } from '../accounts/account-repository.ts'
import { hashPassword } from '../accounts/password.ts'
import type { RegistryConfig } from '../config.ts'
import { connect } from '../database/connect.ts'
import { readSecret } from '../database/secret.ts'
import { ConfigError, notFound } from '../errors.ts'
import { garbageCollection } from '../files/garbage-collection.ts'
import { openDiskStore } from '../store/disk-store.ts'
import { checkStore } from './check-store.ts'

export type Admin = Awaited<ReturnType<typeof openAdmin>>

/**
 * The registry's data, for whoever runs it, on the server's own machine: beside a running registry or without one.
 * Throws a `ConfigError` where there is no registry.
 */
export async function openAdmin(config: RegistryConfig) {
  await access(join(config.dataDirectory, 'lock')).catch((error) => {
    throw new ConfigError(`there is no registry in ${config.dataDirectory}`, { cause: error })
  })
  const { db, close } = await connect({
    ...config,
    onConnectionLost: (error) => {
      throw error
    },
  })
  const accounts = accountRepository(db)
  const store = await openDiskStore({
    directory: join(config.dataDirectory, 'store'),
    signingKey: await readSecret(db, 'signing-key'),
    baseUrl: () => config.baseUrl ?? '',
  })

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

    collectGarbage: () => garbageCollection(db, store).collect(),

    /** Hashes every stored file again and names what is wrong. */
    check: (onProgress?: (bytesDone: number, bytesTotal: number) => void, signal?: AbortSignal) =>
      checkStore(db, store, onProgress, signal),

    close,
  }
}
