import { join } from 'node:path'
import { exists } from '@shoal/files'
import type { AuditEntry, RegistryStatus } from '@shoal/protocol'
import type { Releases } from '@shoal/releases'
import { hostActor } from '../audit/actor.ts'
import { note } from '../audit/audit-log.ts'
import type { RegistryConfig } from '../config.ts'
import { ConfigError, isDomainError, unavailable } from '../errors.ts'
import { type CollectedGarbage, garbageCollection } from '../files/garbage/garbage-collection.ts'
import { openTrash, type Trash } from '../files/rows/trash.ts'
import { sampleObjects, writeIdentity } from '../identity/check-identity.ts'
import { takeDataDirectory } from '../identity/data-directory.ts'
import { type DataOptions, openData } from '../identity/open-data.ts'
import { readStatus } from '../operation/read-status.ts'
import { openOwnReleases } from '../releases/own-releases.ts'
import { isUnavailable } from '../unavailable.ts'
import { checkStore, type StoreCheck } from './check-store.ts'
import { describeStore, type StoreDescription } from './describe-store.ts'
import { type HostUsers, hostUsers } from './host-users.ts'

/** Methods that query the database throw `unavailable` if the database cannot be reached. */
export interface Admin {
  /** Accounts, invitations and the audit log. */
  users: HostUsers
  /**
   * Collects garbage like the registry's hourly collection, but removes nothing from the trash, because this process
   * may not know the retention period with which the registry is configured. With `takesUnknown`, collects unknown
   * objects even if there are suspiciously many of them.
   */
  collectGarbage(options?: { takesUnknown?: boolean }): Promise<CollectedGarbage>
  /** The data of deleted files that is still retained. */
  trash: Pick<Trash, 'list' | 'size' | 'restore' | 'empty'>
  /** The releases of shoal that the registry offers. */
  releases: Pick<Releases, 'list' | 'add'>
  /** Hashes every stored file again, and reports missing and damaged files. */
  check(
    onProgress?: (bytesDone: number, bytesTotal: number) => void,
    signal?: AbortSignal,
  ): Promise<StoreCheck>
  /** Returns the state of the store and of the processing queue, like `GET /v1/admin/status`. */
  readStatus(): Promise<RegistryStatus>
  /**
   * Describes the store. If `isConfigured` is true and the store is an S3 bucket, first adds the rules that the bucket
   * lacks.
   */
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
  const trash = openTrash({ db, store, retentionDays: config.trashDays })
  const releases = openOwnReleases(config)
  const collect = garbageCollection(db, store, trash)

  /** Records a command in the audit log before it runs, so that an interrupted command is recorded, too. */
  async function noted<T>(action: AuditEntry['action'], run: () => Promise<T>): Promise<T> {
    await note(hostActor, action, { kind: 'registry', name: 'registry' })(db).catch(explain)
    return run().catch(explain)
  }

  return {
    users: hostUsers({ db, config, collect, explain }),

    collectGarbage: (options) =>
      noted('registry.garbage_collected', () => collect.collect({ ...options, keepsTrash: true })),

    trash: {
      list: () => trash.list().catch(explain),
      size: () => trash.size().catch(explain),
      restore: () => noted('registry.trash_restored', () => trash.restore()),
      empty: () => noted('registry.trash_emptied', () => trash.empty()),
    },

    releases: {
      list: releases.list,
      async add(paths, confirmKey) {
        const added = await releases.add(paths, confirmKey)
        const { version, keyFingerprint: key_sha256 } = added.release
        const subject = { kind: 'registry', name: 'registry' } as const
        if (added.isNew) {
          await note(hostActor, 'registry.release_added', subject, { version, key_sha256 })(
            db,
          ).catch(explain)
        }
        return added
      },
    },

    readStatus: () =>
      readStatus({
        db,
        store,
        engine: connection.engine,
        storeKind: config.s3 ? 's3' : 'disk',
        isStoreAvailable: () =>
          store.check().then(
            () => true,
            () => false,
          ),
      }).catch(explain),

    describeStore: (isConfigured) => describeStore(config, store, isConfigured),

    check: (onProgress, signal) => checkStore(db, store, onProgress, signal).catch(explain),

    async close() {
      await store.close().finally(close)
    },
  }
}

/**
 * Gives the database and the store the same identity, even if they had different ones, for example because one of the
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
      await store.close().finally(connection.close)
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
    `the database is unreachable or has closed the connection (${error.message || code}): try again`,
  )
}
