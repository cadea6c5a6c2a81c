/**
 * Opens a registry's data, for the registry itself and for `shoal admin`: a database and a store that belong together.
 */
import { join } from 'node:path'
import { type Connection, connect, type DatabaseConfig } from '../database/connect.ts'
import { readSecret } from '../database/secret.ts'
import { sqlitePath } from '../database/sqlite.ts'
import { exists } from '../durable-file.ts'
import { ConfigError } from '../errors.ts'
import { type DiskStore, type DiskStoreOptions, openDiskStore } from '../store/disk-store.ts'
import { checkIdentity, type Identified } from './check-identity.ts'
import {
  type DatabaseRecord,
  describeDatabase,
  isSameDatabase,
  readDatabaseRecord,
  toDatabaseRecord,
  writeDatabaseRecord,
} from './database-record.ts'

export type RegistryData = {
  connection: Connection
  store: DiskStore
  /** The key that signs URLs and tokens. */
  signingKey: string
}

export type DataOptions = DatabaseConfig & {
  store: Pick<DiskStoreOptions, 'baseUrl' | 'reserveBytes' | 'senderTimeoutMs'>
  /** Whether a database is created if the folder has none. */
  mayBeNew: boolean
  /**
   * How the database and the store are matched: by `checkIdentity`, unless the operator has confirmed that they belong
   * together.
   */
  identify?: (pair: Identified) => Promise<void>
}

/**
 * Opens the database and the store of a data folder. Throws a `ConfigError` if they do not belong together, or if the
 * settings name no database and the folder's own is not SQLite; nothing is changed then.
 */
export async function openData(options: DataOptions): Promise<RegistryData> {
  const { dataDirectory, mayBeNew, identify = checkIdentity } = options
  const current = toDatabaseRecord(options)
  const recorded = await readDatabaseRecord(dataDirectory)
  if (current.engine === 'sqlite') await refuseForgottenUrl(dataDirectory, recorded, mayBeNew)
  const connection = await connect(options)
  try {
    const { db } = connection
    const directory = join(dataDirectory, 'store')
    const signingKey = await readSecret(db, 'signing-key')
    const store = await openDiskStore({
      ...options.store,
      directory,
      signingKey,
      promisedBytes: () => connection.ballast?.missingBytes() ?? 0,
    })
    const isOtherDatabase = recorded !== undefined && !isSameDatabase(recorded, current)
    await identify({
      db,
      store,
      databaseLabel: describeDatabase(current),
      storeLabel: directory,
      isOtherDatabase,
    })
    if (recorded === undefined || isOtherDatabase) await writeDatabaseRecord(dataDirectory, current)
    return { connection, store, signingKey }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** A forgotten `DATABASE_URL` must not create an empty SQLite database next to the files of another one. */
async function refuseForgottenUrl(
  dataDirectory: string,
  recorded: DatabaseRecord | undefined,
  mayBeNew: boolean,
) {
  if (recorded?.engine === 'postgres') {
    throw new ConfigError(
      `DATABASE_URL is not set, but ${dataDirectory} belongs to ${describeDatabase(recorded)}`,
    )
  }
  if (await exists(sqlitePath(dataDirectory))) return
  // An empty folder may be the store's disk, mounted before the first start.
  const wasUsed = recorded !== undefined || (await exists(join(dataDirectory, 'store', 'objects')))
  if (mayBeNew && !wasUsed) return
  throw new ConfigError(
    `there is no registry.sqlite in ${dataDirectory}, which was used before: set DATABASE_URL if its database ` +
      'is PostgreSQL, restore registry.sqlite from a backup, or choose an empty folder with --data',
  )
}
