import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connect } from '../../database/connect.ts'
import { openDiskStore } from '../../store/disk-store.ts'
import { manifestFor, publish, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase, type TestRegistry } from '../../testing/test-registry.ts'
import { openTrash } from '../rows/trash.ts'
import { garbageCollection } from './garbage-collection.ts'

/** Opens the registry's data a second time for garbage collection, as `shoal admin gc` does in another process. */
async function collectBeside({ config }: TestRegistry) {
  const connection = await connect({
    ...config,
    onConnectionLost: (error) => {
      throw error
    },
  })
  const store = await openDiskStore({
    directory: join(config.dataDirectory, 'store'),
    signingKey: 'not needed here',
    baseUrl: () => '',
  })
  const { db } = connection
  const trash = openTrash({ db, store, retentionDays: config.trashDays })
  return { db, collect: garbageCollection(db, store, trash), close: connection.close }
}

describeOnEachDatabase('garbage collection', (start) => {
  test('removes only unreferenced bytes and expired uploads', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    const registry = await start({ dataDirectory })
    const ana = await registry.register('ana')
    const kept = await publish(registry, ana, { name: 'tide' }, 'kept.gguf', smallGguf(1))
    const open = await registry.post('/v1/models/tide/files', {
      token: ana,
      body: manifestFor('open.gguf', smallGguf(2)),
    })
    const uploads = join(dataDirectory, 'store', 'uploads')
    await writeFile(join(uploads, 'left-by-a-crash'), 'bytes')
    await writeFile(join(uploads, 'never-came.chunks'), '\0\0')

    const { collect, db, close } = await collectBeside(registry)
    const left = { objects: 2, bytes: 5 }
    expect(await collect.collect()).toMatchObject({ expiredUploads: 0, leftUploads: left })
    const download = await registry.get(`/v1/files/tide/download/${kept.id}`)
    const { direct_url } = download.body as { direct_url: string }
    expect((await registry.bytes(direct_url)).status).toBe(200)
    expect(await readdir(uploads)).toHaveLength(2) // the open upload and its chunk map

    await sql`update file set upload_expires_at = '2020-01-01T00:00:00.000Z' where status = 'uploading'`.execute(
      db,
    )
    expect(await collect.collect()).toMatchObject({ expiredUploads: 1 })
    expect(await readdir(uploads)).toHaveLength(0)
    const { id } = open.body as { id: string }
    const expired = await registry.get(`/v1/models/tide/files/${id}`, { token: ana })
    expect(expired.body).toMatchObject({ status: 'expired', status_detail: expect.any(String) })
    await close()
  })

  test('does not damage files that are published at the same time', async () => {
    const registry = await start()
    const ana = await registry.register('ana')
    const { collect, close } = await collectBeside(registry)
    let isPublishing = true
    const collecting = (async () => {
      while (isPublishing) await collect.collect()
    })()
    for (let seed = 0; seed < 12; seed += 1) {
      const bytes = smallGguf(seed)
      const [one, two] = await Promise.all(
        ['first', 'second'].map((model) =>
          publish(registry, ana, { name: model }, `${seed}.gguf`, bytes),
        ),
      )
      expect([one?.status, two?.status]).toEqual(['ready', 'ready'])
      await registry.call('DELETE', `/v1/models/first/files/${one?.id}`, { token: ana })
      const { body } = await registry.get(`/v1/files/second/download/${two?.id}`)
      const { direct_url } = body as { direct_url: string }
      expect((await registry.bytes(direct_url)).bytes.equals(bytes)).toBe(true)
    }
    isPublishing = false
    await collecting
    await close()
  })
})
