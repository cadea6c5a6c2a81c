import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../database/schema.ts'
import { openAdmin } from '../../main.ts'
import { openDiskStore } from '../../store/disk-store.ts'
import { manifestFor, publish, sha256, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../../testing/test-registry.ts'
import { garbageCollection } from '../garbage/garbage-collection.ts'
import { openTrash } from './trash.ts'

const gigabyte = 1_000_000_000
const bytes = smallGguf(1)

const getStorePath = ({ config }: TestRegistry, ...path: string[]) =>
  join(config.dataDirectory, 'store', ...path)

const openStore = (registry: TestRegistry) =>
  openDiskStore({ directory: getStorePath(registry), signingKey: 'none', baseUrl: () => '' })

/** Lists the paths of all finished objects. */
async function listObjects(registry: TestRegistry): Promise<string[]> {
  const found = await readdir(getStorePath(registry, 'objects'), {
    recursive: true,
    withFileTypes: true,
  })
  return found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** Creates a sparse file of this size, which uses no disk space. */
async function makeSparse(path: string, sizeBytes: number) {
  const file = await open(path, 'a')
  await file.truncate(sizeBytes)
  await file.close()
}

async function publishTide(registry: TestRegistry) {
  const token = await registry.register('ana')
  const file = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  const remove = async () => {
    const answer = await registry.call('DELETE', `/v1/models/tide/files/${file.id}`, { token })
    expect(answer.status).toBe(204)
  }
  return { token, file, remove }
}

async function downloadedHash(registry: TestRegistry, file: { id: string }) {
  const { body } = await registry.get(`/v1/files/tide/download/${file.id}`)
  return sha256((await registry.bytes((body as { direct_url: string }).direct_url)).bytes)
}

const age = (db: Kysely<Database>, days: number) =>
  db
    .updateTable('trash')
    .set({ since: new Date(Date.now() - days * 86_400_000).toISOString() })
    .execute()

describeOnEachDatabase('the trash', (start) => {
  test('keeps the bytes of a deleted file for a week and then removes them', async () => {
    const registry = await start()
    const { remove } = await publishTide(registry)
    await remove()
    const admin = await openAdmin(registry.config)
    expect(await admin.trash.list()).toEqual([
      {
        object_key: expect.any(String),
        size_bytes: bytes.length,
        reason: 'deleted',
        since: expect.any(String),
      },
    ])
    const { db } = await registry.connect()
    const store = await openStore(registry)
    const { collect } = garbageCollection(db, store, openTrash({ db, store, retentionDays: 7 }))
    await age(db, 6.9)
    expect(await collect()).toMatchObject({
      trashed: { objects: 0 },
      removed: { objects: 0 },
    })
    expect(await listObjects(registry)).toHaveLength(1)

    await age(db, 7.1)
    expect(await admin.collectGarbage()).toMatchObject({ removed: { objects: 0 } })
    expect(await collect()).toMatchObject({
      removed: { objects: 1, bytes: bytes.length },
    })
    expect(await listObjects(registry)).toEqual([])
    expect(await admin.trash.list()).toEqual([])
    await admin.close()
  })

  test('receives the bytes of a deleted model, except those that another model shares', async () => {
    const registry = await start()
    const { token } = await publishTide(registry)
    const kept = await publish(registry, token, { name: 'ebb' }, 'ebb.gguf', bytes)
    await publish(registry, token, { name: 'tide' }, 'other.gguf', smallGguf(2))
    await registry.call('DELETE', '/v1/models/tide', { token })
    const admin = await openAdmin(registry.config)
    expect(await admin.trash.size()).toMatchObject({ objects: 1 })
    expect(await admin.trash.empty()).toMatchObject({ objects: 1 })
    const { body } = await registry.get(`/v1/files/ebb/download/${kept.id}`)
    const { direct_url } = body as { direct_url: string }
    expect(sha256((await registry.bytes(direct_url)).bytes)).toBe(sha256(bytes))
    await admin.close()
  })

  test('does not count against the quota', async () => {
    const registry = await start({ quotaBytes: bytes.length + 10 })
    const { token, remove } = await publishTide(registry)
    await remove()
    const file = await publish(registry, token, { name: 'tide' }, 'again.gguf', smallGguf(2))
    expect(file.status).toBe('ready')
  })

  test('does not receive canceled uploads', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const files = '/v1/models/tide/files'
    const begun = await registry.post(files, { token, body: manifestFor('tide.gguf', bytes) })
    await registry.call('DELETE', `${files}/${(begun.body as { id: string }).id}`, { token })
    expect(await readdir(getStorePath(registry, 'uploads'))).toEqual([])
    const { db } = await registry.connect()
    expect(await db.selectFrom('trash').selectAll().execute()).toEqual([])
  })

  test('keeps nothing if SHOAL_TRASH_DAYS=0', async () => {
    const registry = await start({ trashDays: 0 })
    const { remove } = await publishTide(registry)
    await remove()
    expect(await listObjects(registry)).toEqual([])
  })

  test('restores objects to which a restored database refers again, and never removes such objects', async () => {
    const registry = await start()
    const { file, remove } = await publishTide(registry)
    const { db } = await registry.connect()
    const blobs = await db.selectFrom('blob').selectAll().execute()
    const chunks = await db.selectFrom('blob_chunk').selectAll().execute()
    const files = await db.selectFrom('file').selectAll().execute()
    const restoreRows = async () => {
      await db.insertInto('blob').values(blobs).execute()
      await db.insertInto('blob_chunk').values(chunks).execute()
      await db.insertInto('file').values(files).execute()
    }
    const admin = await openAdmin(registry.config)

    await remove()
    expect(await admin.trash.restore()).toEqual({ objects: 0, bytes: 0 })
    await restoreRows()
    expect(await admin.trash.restore()).toEqual({ objects: 1, bytes: bytes.length })
    expect(await admin.trash.list()).toEqual([])

    await remove()
    await restoreRows()
    await age(db, 8)
    expect(await admin.trash.empty()).toEqual({ objects: 0, bytes: 0 })
    await admin.collectGarbage()
    expect(await downloadedHash(registry, file)).toBe(sha256(bytes))
    await admin.close()
  })

  test('is emptied oldest first, until there is enough space', async () => {
    const registry = await start()
    const { token, remove } = await publishTide(registry)
    await remove()
    const admin = await openAdmin(registry.config)
    await age((await registry.connect()).db, 1)
    const newer = await publish(registry, token, { name: 'tide' }, 'newer.gguf', smallGguf(2))
    await registry.call('DELETE', `/v1/models/tide/files/${newer.id}`, { token })
    const [oldest, newest] = await admin.trash.list()
    const { db } = await registry.connect()
    const trash = openTrash({ db, store: await openStore(registry), retentionDays: 7 })
    expect(await trash.removeOldest(1)).toEqual({ objects: 1, bytes: oldest?.size_bytes })
    expect(await admin.trash.list()).toEqual([newest])
    await admin.close()
  })

  test('receives a few unknown objects, but not if they make up a large share of the store', async () => {
    const registry = await start()
    const { file } = await publishTide(registry)
    const unknown = getStorePath(registry, 'objects', '00', 'unknown-00')
    await mkdir(getStorePath(registry, 'objects', '00'), { recursive: true })
    await makeSparse(unknown, 5)
    const admin = await openAdmin(registry.config)
    const collect = (takesUnknown: boolean) => admin.collectGarbage({ takesUnknown })
    expect(await collect(false)).toMatchObject({ trashed: { objects: 1, bytes: 5 } })
    expect(await admin.trash.list()).toMatchObject([
      { object_key: 'unknown-00', reason: 'unknown' },
    ])
    await admin.trash.empty()

    await makeSparse(unknown, 1.1 * gigabyte)
    await makeSparse(getStorePath(registry, 'uploads', 'left-by-a-crash'), 10)
    expect(await collect(false)).toMatchObject({
      trashed: { objects: 0 },
      leftUploads: { objects: 0 },
      heldBack: { objects: 1, bytes: 1.1 * gigabyte },
    })
    expect(await admin.trash.list()).toEqual([])
    expect(await listObjects(registry)).toContain(unknown)
    expect(await readdir(getStorePath(registry, 'uploads'))).toEqual(['left-by-a-crash'])

    expect(await collect(true)).toMatchObject({ trashed: { objects: 1 }, heldBack: { objects: 0 } })
    expect(await downloadedHash(registry, file)).toBe(sha256(bytes))
    await rm(unknown)
    await admin.close()
  })

  test('receives everything that users delete, however large', async () => {
    const registry = await start()
    const { remove } = await publishTide(registry)
    const [object = ''] = await listObjects(registry)
    await makeSparse(object, 5 * gigabyte)
    await remove()
    const admin = await openAdmin(registry.config)
    expect(await admin.collectGarbage()).toMatchObject({
      heldBack: { objects: 0 },
    })
    await admin.close()
  })

  test('reports its size in /metrics', async () => {
    const registry = await start()
    const { remove } = await publishTide(registry)
    await remove()
    await expect
      .poll(async () => (await registry.get('/metrics')).text)
      .toContain(`shoal_trash_bytes ${bytes.length}\n`)
  })
})
