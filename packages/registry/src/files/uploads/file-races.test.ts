import type { Download, ModelFile, ModelRecord, StartedUpload } from '@shoal/protocol'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { Connection } from '../../database/connect.ts'
import { lockModel } from '../../models/lock-model.ts'
import { manifestFor, publish, settled, smallGguf } from '../../testing/publish.ts'
import {
  type Answer,
  describeApi,
  everywhere,
  type TestRegistry,
} from '../../testing/test-registry.ts'

describeApi('concurrent calls on a file', { on: everywhere }, (start) => {
  let registry: TestRegistry
  let connection: Connection
  let ana: string

  beforeAll(async () => {
    registry = await start()
    connection = await registry.connect()
    ana = await registry.register('ana')
  })

  /** Sends all chunks of a file, but does not call `complete`. */
  async function upload(model: string, filename: string, bytes: Buffer<ArrayBuffer>) {
    await registry.post('/v1/models', { token: ana, body: { name: model } })
    const files = `/v1/models/${model}/files`
    const body = manifestFor(filename, bytes)
    const started: StartedUpload = (await registry.post(files, { token: ana, body })).body
    for (const { url, headers } of started.upload.missing_chunks) {
      await registry.call('PUT', url, { headers, bytes })
    }
    return started
  }

  const complete = ({ model_id, id }: ModelFile) =>
    registry.post(`/v1/models/${model_id}/files/${id}/complete`, { token: ana })

  /**
   * Locks the model's row while `work` runs, so that writers that start during `work` wait and then run concurrently.
   * SQLite needs no lock, because its writers always run one after another.
   */
  function whileHeld<T>(modelId: string, work: () => Promise<T>): Promise<T> {
    if (connection.engine === 'sqlite') return work()
    return connection.db.transaction().execute(async (trx) => {
      await lockModel(trx, modelId)
      return work()
    })
  }

  /** Resolves once this many writers wait for the row that `whileHeld` has locked. */
  async function untilWaiting(count: number) {
    if (connection.engine === 'sqlite') return
    const waiting = sql<{ count: string }>`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    const countWaiting = async () => Number((await waiting.execute(connection.db)).rows[0]?.count)
    await expect.poll(countWaiting).toBeGreaterThanOrEqual(count)
  }

  test('calls that start the same upload at the same time share it', async () => {
    const made = await registry.post('/v1/models', { token: ana, body: { name: 'shared' } })
    const { id }: ModelRecord = made.body
    const files = '/v1/models/shared/files'
    const body = manifestFor('x.gguf', smallGguf(1, 64))
    const starts = await whileHeld(id, async () => {
      const both = [1, 2].map(() => registry.post(files, { token: ana, body }))
      await untilWaiting(2)
      return { both } // promises that `await` must not wait for while the lock is held
    })
    const answers = await Promise.all(starts.both)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201])
    const [one, two] = answers.map(({ body }): StartedUpload => body)
    expect(one?.id).toBe(two?.id)
  })

  test.each(['file', 'model'])(
    'the bytes of a %s that is deleted while becoming ready can be uploaded again',
    async (what) => {
      const bytes = smallGguf(1, what === 'file' ? 64 : 128)
      const file = await upload(what, 'x.gguf', bytes)
      const path = what === 'file' ? `/v1/models/file/files/${file.id}` : '/v1/models/model'
      const deleted: Promise<Answer>[] = []
      await whileHeld(file.model_id, async () => {
        await complete(file)
        await untilWaiting(1)
        deleted.push(registry.call('DELETE', path, { token: ana }))
        await untilWaiting(2)
      })
      expect((await deleted[0])?.status).toBe(204)

      const again = await publish(registry, ana, { name: what }, 'x.gguf', bytes)
      expect(again.status).toBe('ready')
      const { body }: { body: Download } = await registry.get(
        `/v1/files/${what}/download/${again.id}`,
      )
      expect((await registry.bytes(body.direct_url)).bytes.equals(bytes)).toBe(true)
    },
  )

  test('files of one model that become ready at the same time are all counted', async () => {
    const files = await Promise.all([
      upload('busy', '1.gguf', smallGguf(2)),
      upload('busy', '2.gguf', smallGguf(3)),
    ])
    await whileHeld(files[0].model_id, async () => {
      await Promise.all(files.map(complete))
      await untilWaiting(2)
    })
    for (const { id } of files) await settled(registry, ana, 'busy', id)
    const { body }: { body: ModelRecord } = await registry.get('/v1/models/busy')
    expect(body).toMatchObject({ files_count: 2, quantizations: ['F32'] })
  })

  test('an upload of bytes that are being deleted reuses them or sends them again', async () => {
    for (let round = 0; round < 10; round += 1) {
      const bytes = smallGguf(round, 256)
      const { id } = await publish(registry, ana, { name: 'here' }, 'x.gguf', bytes)
      const there = { name: `there-${round}` }
      await registry.post('/v1/models', { token: ana, body: there })
      const [deleted, file] = await Promise.all([
        registry.call('DELETE', `/v1/models/here/files/${id}`, { token: ana }),
        publish(registry, ana, there, 'x.gguf', bytes),
      ])
      expect([deleted.status, file.status]).toEqual([204, 'ready'])
    }
  })

  test('an upload that starts while its model is being deleted succeeds or is refused with 404 or 409', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `going-${round}`
      await registry.post('/v1/models', { token: ana, body: { name } })
      const starts = Array.from({ length: 4 }, (_, at) =>
        registry.post(`/v1/models/${name}/files`, {
          token: ana,
          body: manifestFor(`${at}.gguf`, smallGguf(round * 4 + at)),
        }),
      )
      const deleted = registry.call('DELETE', `/v1/models/${name}`, { token: ana })
      for (const { status } of await Promise.all(starts)) expect([201, 404, 409]).toContain(status)
      expect((await deleted).status).toBe(204)
    }
  })
})
