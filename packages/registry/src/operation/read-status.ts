import type { RegistryStatus } from '@shoal/protocol'
import { type Kysely, sql } from 'kysely'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import type { ObjectStore } from '../store/object-store.ts'

type Dependencies = {
  db: Kysely<Database>
  engine: RegistryStatus['database']
  store: Pick<ObjectStore, 'space'>
  storeKind: RegistryStatus['store']['kind']
  /** Resolves to false if the store has failed a check. */
  isStoreAvailable: () => Promise<boolean>
}

/** Reads the state of the store and of the processing queue. Works while the store is not available. */
export async function readStatus(dependencies: Dependencies): Promise<RegistryStatus> {
  const { db, engine, store, storeKind, isStoreAvailable } = dependencies
  const is_available = await isStoreAvailable()
  const space = is_available ? await store.space().catch(() => undefined) : undefined
  const limited = typeof space === 'object' ? space : undefined
  const { stored } = await db
    .selectFrom('blob')
    .select((row) => row.fn.sum<string | number | null>('size_bytes').as('stored'))
    .executeTakeFirstOrThrow()
  return {
    database: engine,
    store: {
      kind: storeKind,
      is_available,
      stored_bytes: Number(stored ?? 0),
      free_bytes: limited?.freeBytes ?? null,
      reserve_bytes: limited?.reserveBytes ?? null,
      awaited_bytes: limited?.awaitedBytes ?? null,
    },
    ...(await countUnfinished(db)),
  }
}

async function countUnfinished(db: Kysely<Database>) {
  const isRunning = sql`lease_holder is not null and lease_until >= ${databaseTime(db)}`
  const rows = await db
    .selectFrom('file')
    .where(sql<boolean>`status <> 'ready'`) // lets the database use the index of unfinished files
    .groupBy('status')
    .select('status')
    .select((row) => [
      row.fn.countAll<string | number>().as('files'),
      row.fn.min('created_at').as('oldest_at'),
      sql<string | number>`sum(case when ${isRunning} then 1 else 0 end)`.as('running'),
    ])
    .execute()
  const found = (status: string) => rows.find((row) => row.status === status)
  const count = (status: string) => Number(found(status)?.files ?? 0)
  const running = Number(found('processing')?.running ?? 0)
  return {
    processing: {
      waiting: count('processing') - running,
      running,
      oldest_at: found('processing')?.oldest_at ?? null,
    },
    uploads: count('uploading'),
    failed_files: count('failed'),
  }
}
