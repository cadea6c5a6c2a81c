import { beforeAll, expect, test } from 'vitest'
import type { Connection } from '../../database/connect.ts'
import { unavailable } from '../../errors.ts'
import { describeOnEachDatabase, type TestRegistry } from '../../testing/test-registry.ts'
import { downloadCounter } from './download-counter.ts'
import { downloadOrder } from './download-order.ts'

describeOnEachDatabase('counting downloads', (start) => {
  let registry: TestRegistry
  let connection: Connection
  let token: string
  const ids: string[] = []

  beforeAll(async () => {
    registry = await start()
    connection = await registry.connect()
    token = await registry.register('ana')
    for (const name of ['tide', 'reef', 'foam']) {
      const { body } = await registry.post('/v1/models', { token, body: { name } })
      ids.push((body as { id: string }).id)
    }
  })

  const noOrder = { follow: () => undefined }
  const noJournal = { append: () => Promise.reject(new Error('the database has room')) }

  async function readCounts(): Promise<{ counted: number; sorted: number }[]> {
    const rows = await connection.db
      .selectFrom('model')
      .innerJoin('model_downloads', 'model_downloads.model_id', 'model.id')
      .select(['model_downloads.downloads as counted', 'model.downloads as sorted'])
      .orderBy('model.seq')
      .execute()
    return rows
  }

  const failOnError = (error: unknown) => {
    throw error
  }

  test('a call resolves only after its commit is synced, and calls that arrive meanwhile share the next commit', async () => {
    const syncs: (() => void)[] = []
    const sync = () => new Promise<void>((resolve) => void syncs.push(resolve))
    const counter = downloadCounter({
      connection: { ...connection, sync },
      journal: noJournal,
      order: noOrder,
    })
    const [id = ''] = ids
    const done: string[] = []
    const first = counter.count(id).then(() => done.push('first'))
    await expect.poll(() => syncs.length).toBe(1)
    expect((await readCounts())[0]?.counted).toBe(1) // committed, but the call has not resolved yet
    const others = Array.from({ length: 50 }, () =>
      counter.count(id).then(() => done.push('other')),
    )
    expect(done).toEqual([])
    syncs[0]?.()
    await first
    await expect.poll(() => syncs.length).toBe(2)
    expect(done).toEqual(['first'])
    syncs[1]?.()
    await Promise.all(others)
    expect(syncs).toHaveLength(2)
    expect((await readCounts())[0]?.counted).toBe(51)
  })

  test('a call rejects and is not counted in the journal if its commit cannot be synced, and a later call succeeds', async () => {
    let failures = 1
    const sync = () =>
      failures-- > 0 ? Promise.reject(unavailable('the disk failed')) : connection.sync()
    const counter = downloadCounter({
      connection: { ...connection, sync },
      journal: noJournal,
      order: noOrder,
    })
    await expect(counter.count(ids[1] ?? '')).rejects.toMatchObject({ code: 'unavailable' })
    await counter.count(ids[1] ?? '')
  })

  test('the column by which models are sorted is updated with counts from several nodes', async () => {
    const nodes = await Promise.all([registry.connect(), registry.connect()])
    const counters = nodes.map((node) => {
      const order = downloadOrder(node, failOnError)
      return downloadCounter({ connection: node, journal: noJournal, order })
    })
    await Promise.all(
      Array.from({ length: 300 }, (_, at) => counters[at % 2]?.count(ids[at % ids.length] ?? '')),
    )
    await expect
      .poll(async () => (await readCounts()).every(({ counted, sorted }) => counted === sorted))
      .toBe(true)
  })

  test('counts that were not copied before a crash are copied at the next start', async () => {
    // Use a new model, because the nodes of the previous test may still be copying the counts of the other models.
    const { id } = (await registry.post('/v1/models', { token, body: { name: 'crest' } })).body as {
      id: string
    }
    const counter = downloadCounter({ connection, journal: noJournal, order: noOrder })
    await Promise.all(Array.from({ length: 1_000 }, () => counter.count(id)))
    const { body } = await registry.get('/v1/models')
    expect(body).toContainEqual(expect.objectContaining({ name: 'crest', downloads: 1_000 }))
    expect((await readCounts()).at(-1)).toEqual({ counted: 1_000, sorted: 0 })

    await registry.restart()
    await expect.poll(async () => (await readCounts()).at(-1)?.sorted).toBe(1_000)
    const sorted = await registry.get('/v1/models?sort=downloads&limit=1')
    expect(sorted.body).toMatchObject([{ name: 'crest' }])
  })
})
