/**
 * Tests how files are processed if the store is unavailable, if stored bytes are lost, or if the registry stops
 * repeatedly.
 */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Download, ModelFile, StartedUpload } from '@shoal/protocol'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Connection } from '../../database/connect.ts'
import { manifestFor, publish, settled, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../../testing/test-registry.ts'

describeOnEachDatabase('processing', (start) => {
  let registry: TestRegistry
  let connection: Connection
  let ana: string
  let objects: string

  beforeAll(async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    objects = join(dataDirectory, 'store', 'objects')
    registry = await start({ dataDirectory })
    connection = await registry.connect()
    ana = await registry.register('ana')
    await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
  })

  const startUpload = async (filename: string, bytes: Buffer): Promise<StartedUpload> =>
    (
      await registry.post('/v1/models/tide/files', {
        token: ana,
        body: manifestFor(filename, bytes),
      })
    ).body

  const get = async ({ id }: ModelFile): Promise<ModelFile> =>
    (await registry.get(`/v1/models/tide/files/${id}`, { token: ana })).body

  async function downloadBytes(model: string, { id }: ModelFile) {
    const { body }: { body: Download } = await registry.get(`/v1/files/${model}/download/${id}`)
    return registry.bytes(body.direct_url)
  }

  /** Makes the processor poll immediately and include postponed jobs. */
  async function wake(seed: number) {
    await sql`update file set lease_until = null where lease_holder is null`.execute(connection.db)
    await publish(registry, ana, { name: 'other' }, `${seed}.gguf`, smallGguf(seed))
  }

  test('waits while the store is unavailable, reports this, and does not count an attempt', async () => {
    const bytes = smallGguf(1)
    await publish(registry, ana, { name: 'tide' }, 'first.gguf', bytes)
    const second = await startUpload('second.gguf', bytes)
    expect(second.upload.missing_count).toBe(0)
    await rename(objects, `${objects}-away`)
    await registry.post(`/v1/models/tide/files/${second.id}/complete`, { token: ana })
    while ((await get(second)).status_detail === null) await sleep(20)
    expect(await get(second)).toMatchObject({
      status: 'processing',
      status_detail: expect.stringContaining('will be retried'),
    })
    const { attempts } = await connection.db
      .selectFrom('file')
      .select('attempts')
      .where('id', '=', second.id)
      .executeTakeFirstOrThrow()
    expect(attempts).toBe(0)

    await rename(`${objects}-away`, objects)
    await wake(2)
    const ready = await settled(registry, ana, 'tide', second.id)
    expect(ready).toMatchObject({ status: 'ready', status_detail: null })
  })

  const send = (upload: StartedUpload['upload'], bytes: Buffer<ArrayBuffer>) =>
    registry.call('PUT', upload.missing_chunks[0]?.url ?? '', { bytes })

  const complete = async ({ id }: ModelFile) => {
    await registry.post(`/v1/models/tide/files/${id}/complete`, { token: ana })
    return settled(registry, ana, 'tide', id)
  }

  const readKey = async (id: string) => {
    const { db } = connection
    const { rows } = await sql<{ key: string }>`
      select coalesce(file.object_key, blob.object_key) as key
      from file left join blob on blob.sha256_hash = file.blob_hash where file.id = ${id}`.execute(
      db,
    )
    return rows[0]?.key ?? ''
  }

  /** Sends a reopened file again, and expects it to become ready. */
  async function sendAgain(file: ModelFile, bytes: Buffer<ArrayBuffer>) {
    const { body }: { body: StartedUpload['upload'] } = await registry.get(
      `/v1/models/tide/files/${file.id}/upload`,
      { token: ana },
    )
    expect(body.missing_count).toBe(1)
    expect((await send(body, bytes)).status).toBe(200)
    expect(await complete(file)).toMatchObject({ status: 'ready', status_detail: null })
    expect((await downloadBytes('tide', file)).bytes.equals(bytes)).toBe(true)
  }

  const toBeSentAgain = (what: string) => ({
    status: 'uploading',
    status_detail: `${what} are gone: upload the file again`,
  })
  const sharedBytes = 'the stored bytes that this file shares with other files'

  test('requires a file to be sent again if the object that it shares is gone', async () => {
    const bytes = smallGguf(11)
    const first = await publish(registry, ana, { name: 'tide' }, 'shared.gguf', bytes)
    const second = await startUpload('sharing.gguf', bytes)
    expect(second.upload.missing_count).toBe(0)
    const key = await readKey(first.id)
    await rm(join(objects, key.slice(-2), key))
    expect(await complete(second)).toMatchObject(toBeSentAgain(sharedBytes))
    await sendAgain(second, bytes)
    expect((await downloadBytes('tide', first)).bytes.equals(bytes)).toBe(true)
  })

  test('requires a file to be sent again if the row of the blob that it shares is gone', async () => {
    const bytes = smallGguf(12)
    await publish(registry, ana, { name: 'tide' }, 'recorded.gguf', bytes)
    const second = await startUpload('unrecorded.gguf', bytes)
    await deleteBlobRow(connection, second.sha256_hash)
    expect(await complete(second)).toMatchObject(toBeSentAgain(sharedBytes))
    await sendAgain(second, bytes)
  })

  test('requires a file to be sent again if its uploaded bytes are gone', async () => {
    const bytes = smallGguf(13)
    const file = await startUpload('vanishing.gguf', bytes)
    await send(file.upload, bytes)
    await rm(join(objects, '..', 'uploads', await readKey(file.id)))
    expect(await complete(file)).toMatchObject(toBeSentAgain('the uploaded bytes'))
    await sendAgain(file, bytes)
  })

  test('marks a file as failed if the registry stops repeatedly while processing it', async () => {
    const bytes = smallGguf(3)
    const { id, upload } = await startUpload('deadly.gguf', bytes)
    await registry.call('PUT', upload.missing_chunks[0]?.url ?? '', { bytes })
    await sql`update file set status = 'processing', attempts = 8 where id = ${id}`.execute(
      connection.db,
    )
    await wake(4)
    expect(await settled(registry, ana, 'tide', id)).toMatchObject({
      status: 'failed',
      status_detail: expect.stringContaining('stopped unexpectedly 8 times'),
    })
  })

  test('accepts lost bytes when they are uploaded again, and restores them for every file that shares them', async () => {
    const bytes = smallGguf(5)
    const first = await publish(registry, ana, { name: 'first' }, 'x.gguf', bytes)
    for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true })
    expect((await downloadBytes('first', first)).status).toBe(404)

    const second = await publish(registry, ana, { name: 'second' }, 'x.gguf', bytes)
    expect(second.status).toBe('ready')
    expect((await downloadBytes('second', second)).bytes.equals(bytes)).toBe(true)
    expect((await downloadBytes('first', first)).bytes.equals(bytes)).toBe(true)
  })
})

/**
 * Deletes the row of a blob to which files refer. The schema does not allow this, but such a row may be missing from a
 * damaged or partly restored database.
 */
async function deleteBlobRow({ db, engine }: Connection, sha256Hash: string) {
  const deletion = sql`delete from blob where sha256_hash = ${sha256Hash}`
  if (engine === 'sqlite') {
    await sql`pragma foreign_keys = off`.execute(db)
    await deletion.execute(db)
    await sql`pragma foreign_keys = on`.execute(db)
    return
  }
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx)
    await deletion.execute(trx)
  })
}
