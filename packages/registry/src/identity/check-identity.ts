/**
 * The database determines which objects in the store are garbage, so with the wrong database, all objects would be
 * deleted. To prevent this, the database and the store contain the same identity, a random UUID. In the database, the
 * identity is in the table `secret`. In the store, it is separate from the objects.
 */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/schema.ts'
import { ConfigError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

const secretName = 'store-identity'
/**
 * Maximum number of objects that are looked up in a store: enough to recognize a wrong store, and few enough to be
 * checked within seconds.
 */
const maxSampled = 1_000

export type Identified = {
  db: Kysely<Database>
  store: ObjectStore
  /** How messages refer to the database and the store. */
  databaseLabel: string
  storeLabel: string
  /** Whether this data folder was last used with another database. */
  isOtherDatabase: boolean
}

/**
 * Resolves to the identity of the database and the store if both have the same one. If at least one has none, and the
 * two evidently belong together (for example because both are new), gives both the same identity. Otherwise, throws a
 * `ConfigError` and changes nothing.
 */
export async function checkIdentity(pair: Identified): Promise<string> {
  const { db, store } = pair
  const [inDatabase, inStore] = await Promise.all([readDatabaseIdentity(db), store.readIdentity()])
  if (inDatabase !== undefined && inDatabase === inStore) return inDatabase
  const refusal =
    inStore === undefined
      ? await refuseUnknownStore(pair)
      : await refuseKnownStore(pair, inDatabase !== undefined)
  if (refusal) throw new ConfigError(refusal)
  const identity = await makeDatabaseIdentity(db, inStore)
  await store.writeIdentity(identity)
  return identity
}

/**
 * Gives the store the database's identity, even if the store had another one, and resolves to this identity. If the
 * database has no identity, creates one.
 */
export async function writeIdentity({ db, store }: Pick<Identified, 'db' | 'store'>) {
  const identity = await makeDatabaseIdentity(db, undefined)
  await store.writeIdentity(identity)
  return identity
}

/**
 * Checks a store whose identity differs from that of the database. The database may have none. Returns why the store is
 * refused, or undefined if it is accepted.
 */
async function refuseKnownStore(
  { db, store, databaseLabel, storeLabel, isOtherDatabase }: Identified,
  isKnownDatabase: boolean,
): Promise<string | undefined> {
  if (!isKnownDatabase && (await isNew(db))) {
    if (!isOtherDatabase && (await isEmpty(store))) return undefined
    return `${databaseLabel} is new, but ${storeLabel} belongs to another database. ${whatToCheck}`
  }
  return `${databaseLabel} and ${storeLabel} belong to different registries. ${whatToCheck}`
}

/** Checks a store without an identity. Returns why the store is refused, or undefined if it is accepted. */
async function refuseUnknownStore({
  db,
  store,
  databaseLabel,
  storeLabel,
  isOtherDatabase,
}: Identified): Promise<string | undefined> {
  if (await isNew(db)) {
    if (!isOtherDatabase && (await isEmpty(store))) return undefined
    return `${databaseLabel} is new, but ${storeLabel} was used with another database. ${whatToCheck}`
  }
  const { sampled, missing } = await sampleObjects(db, store)
  if (missing > 0) {
    return (
      `${missing} of ${sampled} files listed in ${databaseLabel} cannot be found in ${storeLabel}. ` +
      `Is the store's disk mounted? ${whatToCheck}`
    )
  }
  if (sampled === 0 && (await hasUnknownObjects(db, store))) {
    return `${databaseLabel} lists no files, but ${storeLabel} contains some. ${whatToCheck}`
  }
  return undefined
}

const whatToCheck =
  'Check --data and DATABASE_URL. If you are sure that the database and the store belong together, for example after restoring a backup, run: shoal admin adopt-store'

async function readDatabaseIdentity(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', secretName)
    .executeTakeFirst()
  return row?.value
}

/**
 * Returns the identity of the database. If the database has none, stores `suggested` or a new identity. If two nodes do
 * this at the same time, both use the identity that was stored first.
 */
async function makeDatabaseIdentity(db: Kysely<Database>, suggested: string | undefined) {
  await db
    .insertInto('secret')
    .values({ name: secretName, value: suggested ?? randomUUID() })
    .onConflict((exists) => exists.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', secretName)
    .executeTakeFirstOrThrow()
  return value
}

/** Whether the database is unused, which means that it has no accounts, not even the registry's own. */
async function isNew(db: Kysely<Database>): Promise<boolean> {
  const account = await db.selectFrom('account').select('id').limit(1).executeTakeFirst()
  return account === undefined
}

async function isEmpty(store: ObjectStore): Promise<boolean> {
  for await (const _entry of store.list()) return false
  return true
}

/**
 * Whether the store contains objects to which no file refers. The objects of unfinished uploads are not counted as
 * unknown, because version 0.1 may have been stopped while it processed such an upload.
 */
async function hasUnknownObjects(db: Kysely<Database>, store: ObjectStore): Promise<boolean> {
  const uploads = await db
    .selectFrom('file')
    .select('object_key')
    .where('object_key', 'is not', null)
    .execute()
  const known = new Set(uploads.map(({ object_key }) => object_key))
  for await (const { key, isUpload } of store.list()) if (!isUpload && !known.has(key)) return true
  return false
}

export type SampledObjects = { sampled: number; missing: number }

/**
 * Looks up the objects of files in the store. Returns how many were looked up, and how many of them are missing. If
 * there are more than `maxSampled`, looks up only the first ones in SHA-256 order, which are as good as a random
 * sample.
 */
export async function sampleObjects(
  db: Kysely<Database>,
  store: ObjectStore,
): Promise<SampledObjects> {
  const blobs = await db
    .selectFrom('blob')
    .select(['object_key', 'size_bytes'])
    .where(sql<boolean>`exists (select 1 from file where file.blob_hash = blob.sha256_hash)`)
    .orderBy('sha256_hash')
    .limit(maxSampled)
    .execute()
  let missing = 0
  for (const { object_key, size_bytes } of blobs) {
    if (!(await store.hasObject(object_key, size_bytes))) missing += 1
  }
  return { sampled: blobs.length, missing }
}
