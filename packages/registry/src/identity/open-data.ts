/**
 * Opens a registry's data (a database and a store that belong together) for the registry itself and for `shoal admin`.
 */
import { join } from 'node:path'
import { exists } from '@shoal/files'
import { othersAndGroup, takePermissions } from '@shoal/files/secret'
import { type Connection, connect, type DatabaseConfig } from '../database/connect.ts'
import { readSecret } from '../database/secret.ts'
import { sqlitePath } from '../database/sqlite.ts'
import { ConfigError } from '../errors.ts'
import { type DiskStoreOptions, openDiskStore } from '../store/disk-store.ts'
import type { S3Config } from '../store/s3/open-s3.ts'
import type { S3Support } from '../store/s3/s3-support.ts'
import type { RegistryStore } from '../store/served-store.ts'
import { checkIdentity, type Identified } from './check-identity.ts'
import {
  type DatabaseRecord,
  describeDatabase,
  isSameDatabase,
  readDatabaseRecord,
  toDatabaseRecord,
  writeDatabaseRecord,
} from './database-record.ts'
import { explainDatabase } from './explain-database.ts'

export type RegistryData = {
  connection: Connection
  store: RegistryStore
  /** What the S3 store supports; undefined if the store is in the data folder, or was not probed. */
  s3Support: S3Support | undefined
  /** The key that signs URLs and tokens. */
  signingKey: string
  /** The registry's identity, a UUID that both the database and the store contain. */
  identity: string
}

export type DataOptions = DatabaseConfig & {
  store: Pick<DiskStoreOptions, 'baseUrl' | 'reserveBytes' | 'senderTimeoutMs'>
  /** The S3 store; undefined if the store is in the data folder. */
  s3: S3Config | undefined
  /** Whether to probe what an S3 store supports. If false, the store is assumed to support no optional features. */
  probesStore: boolean
  /** Whether to create a database if the folder has none. */
  mayBeNew: boolean
  /** Logs what the operator should correct. */
  warn?: (details: object, message: string) => void
  /**
   * Checks that the database and the store belong together. Default: `checkIdentity`. Another function is used if the
   * operator has confirmed that they belong together.
   */
  identify?: (pair: Identified) => Promise<string>
}

/**
 * Opens the database and the store of a data folder. Throws a `ConfigError` if `DATABASE_URL` was apparently forgotten,
 * if the database cannot be used, or if the database and the store do not belong together. In the last case, the database may have been migrated, but
 * no identity is written.
 */
export async function openData(options: DataOptions): Promise<RegistryData> {
  const { dataDirectory, mayBeNew, warn, identify = checkIdentity } = options
  const current = toDatabaseRecord(options)
  const recorded = await readDatabaseRecord(dataDirectory)
  if (current.engine === 'sqlite') await refuseForgottenUrl(dataDirectory, recorded, mayBeNew)
  for (const path of keepPrivate(dataDirectory)) {
    warn?.({ path }, 'other users of this machine may be able to read this: change its permissions')
  }
  await using opened = new AsyncDisposableStack() // closes what was opened if a later step fails
  const connection = await connect(options).catch((error: unknown) => {
    throw explainDatabase(error, current, sqlitePath(dataDirectory))
  })
  opened.defer(connection.close)
  const { db } = connection
  const signingKey = await readSecret(db, 'signing-key')
  const { store, label, s3Support } = await openStore(options, connection, signingKey)
  opened.defer(store.close)
  const isOtherDatabase = recorded !== undefined && !isSameDatabase(recorded, current)
  const identity = await identify({
    db,
    store,
    databaseLabel: describeDatabase(current),
    storeLabel: label,
    isOtherDatabase,
  })
  if (recorded === undefined || isOtherDatabase) await writeDatabaseRecord(dataDirectory, current)
  opened.move()
  return { connection, store, s3Support, signingKey, identity }
}

/**
 * Takes permissions that an earlier version or the operator gave to other users: for the database, which contains the
 * signing key and password hashes, and for the store, which contains private models. Returns the paths for which this
 * is not possible.
 */
function keepPrivate(dataDirectory: string): string[] {
  const database = sqlitePath(dataDirectory)
  return [
    ...['', '-wal', '-shm'].map((suffix) => [`${database}${suffix}`, othersAndGroup] as const),
    [join(dataDirectory, 'store'), 0o007] as const,
  ].flatMap(([path, bits]) => (takePermissions(path, bits) ? [] : [path]))
}

/** Opens the store, and returns it with its name for messages. */
async function openStore(
  { dataDirectory, s3, probesStore, store: options, warn }: DataOptions,
  connection: Connection,
  signingKey: string,
) {
  if (s3) {
    const { openS3 } = await import('../store/s3/open-s3.ts') // the SDK takes half a second to load
    const opened = await openS3(s3, {
      signingKey,
      baseUrl: options.baseUrl,
      isProbed: probesStore,
    })
    const { clockOffsetMs } = opened
    if (clockOffsetMs !== 0) {
      warn?.(
        { clockOffsetMs },
        "the clock of this machine differs from the S3 store's; the registry uses the store's time for signatures: correct the clock",
      )
    }
    const label = `the S3 bucket ${s3.bucket.bucket} (prefix "${s3.prefix}")`
    return { store: opened.store, label, s3Support: probesStore ? opened.support : undefined }
  }
  const directory = join(dataDirectory, 'store')
  const store = await openDiskStore({
    ...options,
    directory,
    signingKey,
    promisedBytes: () => connection.ballast?.missingBytes() ?? 0,
  })
  return { store, label: directory, s3Support: undefined }
}

/**
 * Throws if `DATABASE_URL` was apparently forgotten, to avoid creating an empty SQLite database for a store that
 * belongs to another database.
 */
async function refuseForgottenUrl(
  dataDirectory: string,
  recorded: DatabaseRecord | undefined,
  mayBeNew: boolean,
) {
  if (recorded?.engine === 'postgres') {
    throw new ConfigError(
      `DATABASE_URL is not set, but ${dataDirectory} belongs to ${describeDatabase(recorded)}: set DATABASE_URL to the URL of that database`,
    )
  }
  if (await exists(sqlitePath(dataDirectory))) return
  // An empty `store` folder may be the mount point of a disk that was mounted before the first start.
  const wasUsed = recorded !== undefined || (await exists(join(dataDirectory, 'store', 'objects')))
  if (mayBeNew && !wasUsed) return
  throw new ConfigError(
    `${dataDirectory} was used before but contains no registry.sqlite: set DATABASE_URL if its database ` +
      'is PostgreSQL, restore registry.sqlite from a backup, or choose an empty folder with --data',
  )
}
