/**
 * Tests several nodes that share one database: which node processes a file, by which clock leases expire, and what a
 * node may still do after losing its lease.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelFile, StartedUpload } from '@shoal/protocol'
import { sql } from 'kysely'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { hasPostgres } from '../../../../../testing/servers.ts'
import { temporaryFolder } from '../../../../../testing/temporary-folder.ts'
import { databaseTime } from '../../database/clock.ts'
import type { Connection } from '../../database/connect.ts'
import { readSecret } from '../../database/secret.ts'
import { openAdmin } from '../../main.ts'
import { type DiskStore, openDiskStore } from '../../store/disk-store.ts'
import { manifestFor, publish, settled, smallGguf } from '../../testing/publish.ts'
import {
  describeOnEachDatabase,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../../testing/test-registry.ts'
import { blobRepository } from '../rows/blob-repository.ts'
import { fileRepository } from '../rows/file-repository.ts'
import type { FileRow } from '../rows/file-row.ts'
import { processFile } from './process-file.ts'
import { processingQueue } from './processing-queue.ts'
import { publishFile } from './publish-file.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Shifts this process's clock, which the registry uses, but not the database's clock. */
function shiftClock(ms: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}

/** Uploads all bytes of a file to the model `tide` without submitting the file for processing. */
async function uploadAll(registry: TestRegistry, token: string, filename: string, bytes: Buffer) {
  const { body }: { body: StartedUpload } = await registry.post('/v1/models/tide/files', {
    token,
    body: manifestFor(filename, bytes),
  })
  const sent = await registry.call('PUT', body.upload.missing_chunks[0]?.url ?? '', {
    bytes: Uint8Array.from(bytes),
  })
  expect(sent.status).toBe(200)
  return body.id
}

describeOnEachDatabase('the lease on a file that is being processed', (start) => {
  let registry: TestRegistry
  let connection: Connection
  let store: DiskStore
  let ana: string

  beforeAll(async () => {
    registry = await start()
    connection = await registry.connect()
    store = await openDiskStore({
      directory: join(registry.config.dataDirectory, 'store'),
      signingKey: await readSecret(connection.db, 'signing-key'),
      baseUrl: () => registry.url,
    })
    ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
  })

  const getRow = (id: string): Promise<FileRow> =>
    connection.db.selectFrom('file').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  const get = async (id: string): Promise<ModelFile> =>
    (await registry.get(`/v1/models/tide/files/${id}`, { token: ana })).body

  /** Makes the file a job that is leased to `holder` for this many seconds. */
  async function lease(id: string, holder: string, seconds: number) {
    const { db } = connection
    await db
      .updateTable('file')
      .set({
        status: sql<never>`'processing'`, // regardless of the previous status
        lease_holder: holder,
        lease_until: databaseTime(db, seconds),
        attempts: 1,
      })
      .where('id', '=', id)
      .execute()
  }

  /** Waits until the registry has polled the queue, by publishing another file. */
  const waitForPoll = (seed: number) =>
    publish(registry, ana, { name: 'other' }, `${seed}.gguf`, smallGguf(seed))

  test('keeps the file for its node until it expires; then another node takes over the file', async () => {
    const id = await uploadAll(registry, ana, 'orphan.gguf', smallGguf(1))
    await lease(id, 'a dead node', 60)
    await waitForPoll(9)
    expect(await getRow(id)).toMatchObject({ status: 'processing', lease_holder: 'a dead node' })
    await lease(id, 'a dead node', 0)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({ status: 'ready' })
  })

  test('lasts 15 seconds by the database’s clock, regardless of the nodes’ clocks', async () => {
    const id = await uploadAll(registry, ana, 'clocks.gguf', smallGguf(2))
    for (const shift of [-hourMs, hourMs]) {
      shiftClock(shift)
      await lease(id, 'another node', 60)
      await waitForPoll(shift > 0 ? 3 : 4)
      expect(await getRow(id)).toMatchObject({ status: 'processing', lease_holder: 'another node' })
      vi.useRealTimers()
    }
    shiftClock(hourMs)
    expect(await processingQueue(connection.db, connection.engine).renew(id, 'another node')).toBe(
      true,
    )
    const { rows } = await sql<{
      now: string
    }>`select ${databaseTime(connection.db)} as now`.execute(connection.db)
    const { lease_until } = await getRow(id)
    const seconds = (Date.parse(lease_until ?? '') - Date.parse(rows[0]?.now ?? '')) / 1000
    expect(seconds).toBeGreaterThan(5)
    expect(seconds).toBeLessThanOrEqual(15)
    expect(lease_until).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    await lease(id, 'another node', 0)
    await settled(registry, ana, 'tide', id)
  })

  test('is treated as expired if it would last longer than any lease, because the clock was set back', async () => {
    const id = await uploadAll(registry, ana, 'ahead.gguf', smallGguf(7))
    await lease(id, 'a node whose clock was an hour ahead', 3600)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({ status: 'ready' })
  })

  test('is not taken again by the node that holds it, even if it appears to have expired', async () => {
    const id = await uploadAll(registry, ana, 'running.gguf', smallGguf(8))
    const { db, engine } = connection
    const queue = processingQueue(db, engine)
    await db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('file')
        .set({
          status: sql<never>`'processing'`,
          lease_holder: 'this node',
          lease_until: databaseTime(db, -1),
        })
        .where('id', '=', id)
        .execute()
      const inside = processingQueue(transaction, engine)
      expect(await inside.claim('this node', [id])).toBeUndefined()
      expect(await inside.claim('this node', [])).toMatchObject({ id })
    })
    expect(await queue.putBack(id, 'this node')).toBe(true)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({ status: 'ready' })
    expect(await getRow(id)).toMatchObject({ attempts: 1 }) // the one that was put back does not count
  })

  test('decides which node publishes: a node that has lost the lease changes nothing and removes no bytes', async () => {
    const bytes = smallGguf(5)
    const { db, engine } = connection
    const id = await uploadAll(registry, ana, 'fenced.gguf', bytes)
    const key = (await getRow(id)).object_key ?? ''
    await lease(id, 'the old node', 250)
    const files = fileRepository(db, { countSeeders: async () => new Map() })
    const dependencies = { files, blobs: blobRepository(db), store }
    const file = await getRow(id)
    const { signal } = new AbortController()
    const checked = await processFile(dependencies, file, async () => undefined, signal)
    if (checked.outcome !== 'ready') throw new Error(checked.detail)

    await lease(id, 'the new node', 250)
    const before = await getRow(id)
    await expect(publishFile(dependencies, file, 'the old node', checked)).rejects.toMatchObject({
      details: { code: 'lease_lost' },
    })
    const queue = processingQueue(db, engine)
    const steps = [
      queue.renew(id, 'the old node'),
      queue.putBack(id, 'the old node'),
      queue.retryLater(id, 'the old node', 5),
      queue.end(id, 'the old node', { status: 'failed', detail: 'no' }),
      queue.end(id, 'the old node', { status: 'uploading', detail: 'no', uploadId: null }),
      queue.forgetBytes(id, 'the old node', 'another'),
    ]
    expect(await Promise.all(steps)).toEqual(steps.map(() => false))
    expect(await getRow(id)).toEqual(before)
    const blob = db
      .selectFrom('blob')
      .select('object_key')
      .where('sha256_hash', '=', file.sha256_hash)
    expect(await blob.executeTakeFirst()).toBeUndefined()
    expect(await store.hasObject(key, bytes.length)).toBe(true)

    await publishFile(dependencies, file, 'the new node', checked)
    expect(await get(id)).toMatchObject({ status: 'ready' })
    expect(await blob.executeTakeFirst()).toEqual({ object_key: key })
  })

  test('expires by the database’s clock, as does an upload', async () => {
    const { body }: { body: StartedUpload } = await registry.post('/v1/models/tide/files', {
      token: ana,
      body: manifestFor('open.gguf', smallGguf(6)),
    })
    const admin = await openAdmin(registry.config)
    onTestFinished(() => admin.close())
    const realNow = Date.now()
    shiftClock(8 * dayMs)
    expect(await admin.collectGarbage()).toMatchObject({ expiredUploads: 0 })
    expect(await get(body.id)).toMatchObject({ status: 'uploading' })
    const { expires_at } = await getUpload(body.id)
    expect(Date.parse(expires_at) - realNow).toBeLessThan(7 * dayMs + hourMs)

    await sql`update file set upload_expires_at = ${databaseTime(connection.db, -1)} where id = ${body.id}`.execute(
      connection.db,
    )
    expect(await admin.collectGarbage()).toMatchObject({ expiredUploads: 1 })
    expect(await get(body.id)).toMatchObject({ status: 'expired' })
  })

  const getUpload = async (id: string): Promise<StartedUpload['upload']> =>
    (await registry.get(`/v1/models/tide/files/${id}/upload`, { token: ana })).body
})

test.skipIf(!hasPostgres)(
  'on PostgreSQL, a registry that loses a lease while publishing leaves the file to the node that took the lease',
  async () => {
    const folder = temporaryFolder()
    const log = { file: join(folder, 'registry.log') }
    const databaseUrl = await makeDatabase()
    const registry = await startTestRegistry({ databaseUrl, log })
    onTestFinished(() => registry.close())
    const ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    const bytes = smallGguf(1)
    const id = await uploadAll(registry, ana, 'tide.gguf', bytes)
    const { db } = await registry.connect()

    await db.transaction().execute(async (trx) => {
      await sql`select 1 from model for update`.execute(trx) // publishing waits for this lock
      await registry.post(`/v1/models/tide/files/${id}/complete`, { token: ana })
      const waiting = sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await waiting.execute(db)).rows.length).toBeGreaterThan(0)
      await sql`update file set lease_holder = 'another node',
        lease_until = ${databaseTime(trx, 250)} where id = ${id}`.execute(trx)
    })
    await expect.poll(() => readFile(log.file, 'utf8')).toContain('lost the lease on a file')
    const file = db.selectFrom('file').selectAll().where('id', '=', id)
    expect(await file.executeTakeFirst()).toMatchObject({
      status: 'processing',
      lease_holder: 'another node',
      blob_hash: null,
      attempts: 1,
    })

    await sql`update file set lease_until = null, lease_holder = null`.execute(db)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({ status: 'ready' })
    const { body } = await registry.get(`/v1/files/tide/download/${id}`)
    expect((await registry.bytes((body as { direct_url: string }).direct_url)).bytes).toEqual(bytes)
  },
)
