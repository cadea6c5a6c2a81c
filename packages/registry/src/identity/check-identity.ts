/**
 * Database and store belong together: the database decides which objects are garbage, so that the wrong database would
 * delete everything. Both carry the same identity, a random UUID: the database in its table `secret`, the store in a
 * separate object.
 */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../database/schema.ts'
import { ConfigError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

const secretName = 'store-identity'
/**
 * Maximum number of objects that are looked up in a store without an identity: enough to be sure, and checked within
 * seconds.
 */
const maxSampled = 1_000

export type Identified = {
  db: Kysely<Database>
  store: ObjectStore
  /** How messages refer to the database and the store. */
  databaseLabel: string
  storeLabel: string
  /** This data folder was last used with another database. */
  isOtherDatabase: boolean
}

/**
 * Resolves if database and store carry the same identity. If both are new, or were created by version 0.1 and evidently
 * belong together, they get one. Throws a `ConfigError` for every other pair, and changes nothing then.
 */
export async function checkIdentity(pair: Identified): Promise<void> {
  const { db, store } = pair
  const [inDatabase, inStore] = await Promise.all([readDatabaseIdentity(db), store.readIdentity()])
  if (inDatabase !== undefined && inDatabase === inStore) return
  const refusal =
    inStore === undefined
      ? await refuseUnknownStore(pair)
      : await refuseKnownStore(pair, inDatabase !== undefined)
  if (refusal) throw new ConfigError(refusal)
  await store.writeIdentity(await makeDatabaseIdentity(db, inStore))
}

/** Gives database and store the same identity, whatever they had before. */
export async function writeIdentity({ db, store }: Pick<Identified, 'db' | 'store'>) {
  await store.writeIdentity(await makeDatabaseIdentity(db, undefined))
}

/** Why a store with another identity, or with a database that has none, is refused; undefined if it is not. */
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

/** Why a store without an identity is refused; undefined if it is not. */
async function refuseUnknownStore({
  db,
  store,
  databaseLabel,
  storeLabel,
  isOtherDatabase,
}: Identified): Promise<string | undefined> {
  if (await isNew(db)) {
    if (!isOtherDatabase && (await isEmpty(store))) return undefined
    return `${databaseLabel} is new, but ${storeLabel} was used with another one. ${whatToCheck}`
  }
  const { sampled, missing } = await sampleObjects(db, store)
  if (missing > 0) {
    return (
      `${missing} of ${sampled} files listed in ${databaseLabel} are missing from ${storeLabel}. ` +
      `Is its disk mounted? ${whatToCheck}`
    )
  }
  if (sampled === 0 && (await hasUnknownObjects(db, store))) {
    return `${databaseLabel} lists no files, but ${storeLabel} contains some. ${whatToCheck}`
  }
  return undefined
}

const whatToCheck =
  'Check --data and DATABASE_URL. If you restored a backup and they do belong together, run: shoal admin adopt-store'

async function readDatabaseIdentity(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', secretName)
    .executeTakeFirst()
  return row?.value
}

/**
 * The identity of the database. A database without one gets the suggested or a new one; of two nodes, the first one
 * decides.
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

/** Whether the database is unused: it has no account, not even the registry's own. */
async function isNew(db: Kysely<Database>): Promise<boolean> {
  const account = await db.selectFrom('account').select('id').limit(1).executeTakeFirst()
  return account === undefined
}

async function isEmpty(store: ObjectStore): Promise<boolean> {
  for await (const _entry of store.list()) return false
  return true
}

/**
 * Whether there are objects that do not even belong to unfinished uploads: version 0.1 may have been stopped while it
 * processed them.
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
 * How many of the objects named by blobs are in the store: of all, or of the first by SHA-256, which is as good as a
 * random sample.
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
