import type { Facets, Model } from '@shoal/protocol'
import { sql } from 'kysely'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { connect } from '../database/connect.ts'
import {
  describeApi,
  everywhere,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../testing/test-registry.ts'
import { followModels } from './follow-models.ts'
import { followPostgres, type ModelChange } from './model-changes.ts'
import type { SearchQuery } from './search-index.ts'

async function listNames(registry: TestRegistry, query: string, token?: string): Promise<string[]> {
  const { body }: { body: Model[] } = await registry.get(`/v1/models?${query}`, { token })
  return body.map(({ name }) => name)
}

const wornModels: SearchQuery = {
  text: 'worn',
  labels: [],
  ranges: [],
  viewer: { username: undefined, seesAll: true },
  sort: 'downloads',
  order: 'desc',
  offset: 0,
  limit: 100,
}

describeApi('search', { on: everywhere }, (start, oneNodeTest) => {
  let registry: TestRegistry
  let token: string

  const create = (name: string, body = {}) =>
    registry.post('/v1/models', { token, body: { name, ...body } })
  const change = (name: string, body: object) =>
    registry.call('PATCH', `/v1/models/${name}`, { token, body })

  beforeAll(async () => {
    registry = await start()
    token = await registry.register('ana')
  })

  oneNodeTest('includes each change as soon as the request that made it has ended', async () => {
    for (let round = 0; round < 30; round += 1) {
      await create(`fresh-${round}`, { description: `wave${round}x` })
      expect(await listNames(registry, `q=wave${round}x`)).toEqual([`fresh-${round}`])
      await change(`fresh-${round}`, { description: null, tags: ['still'] })
      expect(await listNames(registry, `q=wave${round}x`)).toEqual([])
    }
    expect(await listNames(registry, 'tag=still&limit=100')).toHaveLength(30)
    await Promise.all(
      Array.from({ length: 30 }, (_, round) =>
        registry.call('DELETE', `/v1/models/fresh-${round}`, { token }),
      ),
    )
    expect(await listNames(registry, 'tag=still')).toEqual([])
  })

  test('includes changes made by another process', async () => {
    await create('theirs')
    const { db } = await registry.connect()
    await sql`update model set license = 'mit', downloads = 77 where name = 'theirs'`.execute(db)
    expect(await listNames(registry, 'license=mit')).toEqual(['theirs'])
    await sql`delete from model where name = 'theirs'`.execute(db)
    // A different query is needed: for up to 50 ms, a cached response may lack the other process's write.
    const other = 'license=mit&limit=5'
    expect(await listNames(registry, other)).toEqual([])
  })

  test('includes a change whose transaction was open while later transactions were committed', async () => {
    await create('slow', { license: 'x11' })
    await create('quick', { license: 'x11' })
    const { db } = await registry.connect()
    if ((await registry.connect()).engine === 'sqlite') return // SQLite allows only one writer at a time
    const slow = await db.startTransaction().execute()
    await sql`update model set likes = 5, license = 'isc' where name = 'slow'`.execute(slow)
    await change('quick', { license: 'isc' })
    expect(await listNames(registry, 'license=isc')).toEqual(['quick'])
    await slow.commit().execute()
    expect(await listNames(registry, 'license=isc&sort=likes')).toEqual(['slow', 'quick'])
  })

  test('replaces an index that is mostly outdated, without interrupting searches', async () => {
    const names = Array.from({ length: 6 }, (_, number) => `worn-${number}`)
    for (const name of names) await create(name, { license: 'zlib' })
    const models = followModels(await registry.connect(), { minRebuiltDocuments: 1 })
    const first = await models.current()
    for (const round of [1, 2, 3]) {
      for (const name of names) await change(name, { description: `round ${round}` })
      await models.current()
    }
    const isReplaced = async () => {
      const index = await models.current()
      expect(index.find(wornModels).total).toBe(6)
      return index !== first
    }
    await expect.poll(isReplaced).toBe(true)
  })

  test('ignores changes with transaction IDs that the server of a restored database has not assigned yet', async () => {
    const restored = await start()
    const { db, engine } = await restored.connect()
    if (engine === 'sqlite') return
    const owner = await restored.register('ana')
    await restored.post('/v1/models', { token: owner, body: { name: 'restored' } })
    const followChanges = followPostgres(db)
    await followChanges(async () => undefined)
    await sql`update model_change set change = '9000000000'::xid8`.execute(db)
    const found: ModelChange[] = []
    await followChanges(async (changes) => void found.push(...changes))
    expect(found).toEqual([])
    const body = { license: 'mit' }
    await restored.call('PATCH', '/v1/models/restored', { token: owner, body })
    await followChanges(async (changes) => void found.push(...changes))
    expect(found).toHaveLength(1)
  })

  test('returns the same results after a restart', async () => {
    await create('deep', { tags: ['trench'] })
    const facets = async (): Promise<Facets> => (await registry.get('/v1/facets')).body
    const before = await facets()
    expect(before.tags).toContainEqual({ value: 'trench', count: 1 })
    await registry.restart()
    expect(await facets()).toEqual(before)
    expect(await listNames(registry, 'q=trench')).toEqual(['deep'])
  })

  test('works again after a search that failed because a table was missing', async () => {
    await create('steady', { tags: ['again'] })
    const { db } = await registry.connect()
    await sql`alter table model_change rename to away`.execute(db)
    expect((await registry.get('/v1/models?tag=again')).status).toBe(500)
    await sql`alter table away rename to model_change`.execute(db)
    await create('steady-2', { tags: ['again'] })
    expect(await listNames(registry, 'tag=again')).toEqual(['steady-2', 'steady'])
  })
})

describe.skipIf(!hasPostgres)('search on PostgreSQL', () => {
  test('is unavailable while PostgreSQL refuses its connections, and then works again', async () => {
    const databaseUrl = await makeDatabase()
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide', tags: ['sea'] } })
    expect(await listNames(registry, 'tag=sea')).toEqual(['tide'])

    const name = new URL(databaseUrl).pathname.slice(1)
    const admin = await connectAdmin()
    const refuse = (isRefused: boolean) =>
      sql`alter database ${sql.id(name)} with allow_connections ${sql.raw(String(!isRefused))}`.execute(
        admin.db,
      )
    await refuse(true)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(
      admin.db,
    )
    const { status, headers } = await registry.get('/v1/models?tag=sea&limit=7') // not cached
    expect([status, headers.has('retry-after')]).toEqual([503, true])
    await refuse(false)
    expect(await listNames(registry, 'tag=sea')).toEqual(['tide'])
  })
})

/** Opens a connection to another database on the same server. */
async function connectAdmin() {
  const databaseUrl = await makeDatabase()
  const connection = await connect({
    databaseUrl,
    dataDirectory: '',
    onConnectionLost: () => undefined,
  })
  onTestFinished(() => connection.close())
  return connection
}
