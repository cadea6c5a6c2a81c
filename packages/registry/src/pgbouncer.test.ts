/** Tests a registry whose `DATABASE_URL` points to PgBouncer in transaction mode. */
import type { ModelRecord } from '@shoal/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { type PgBouncer, startPgBouncer } from '../../../testing/pgbouncer.ts'
import { hasPostgres } from '../../../testing/servers.ts'
import { connect } from './database/connect.ts'
import { publish, smallGguf } from './testing/publish.ts'
import { makeDatabase, startTestRegistry, type TestRegistry } from './testing/test-registry.ts'

const isInstalled = hasPostgres && inject('pgbouncer') !== undefined

describe.skipIf(!isInstalled)('a registry behind PgBouncer', () => {
  let directUrl: string
  let pooler: PgBouncer
  let registry: TestRegistry

  beforeAll(async () => {
    directUrl = await makeDatabase()
    pooler = await startPgBouncer(directUrl)
    registry = await startTestRegistry({ databaseUrl: pooler.url, databaseListenUrl: directUrl })
  })
  afterAll(async () => {
    await registry?.close()
    await pooler?.stop()
  })

  /** Connects to the database as another node would, and collects the errors that the connection reports. */
  async function openNode(databaseListenUrl?: string) {
    const errors: string[] = []
    const connection = await connect({
      databaseUrl: pooler.url,
      databaseListenUrl,
      dataDirectory: '',
      followsChanges: true,
      onConnectionLost: ({ message }) => errors.push(message),
    })
    onTestFinished(() => connection.close())
    return { ...connection, errors }
  }

  const getTide = async () => (await registry.get('/v1/models/tide')).body as ModelRecord

  test('serves many concurrent requests', async () => {
    const token = await registry.register('ana')
    const { id } = await publish(registry, token, { name: 'tide' }, 'a.gguf', smallGguf(1))
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0
          ? registry.get(`/v1/files/tide/download/${id}`)
          : registry.call('PATCH', '/v1/models/tide', { token, body: { license: `${index}` } }),
      ),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(await getTide()).toMatchObject({ downloads: 50, files_count: 1 })
  })

  test('caches responses, and notices writes by other nodes', async () => {
    const { db, version } = await openNode(directUrl)
    await expect.poll(version).toBeDefined()
    for (const text of ['low', 'high']) {
      await getTide() // cached from now on
      await sql`update model set description = ${text} where name = 'tide'`.execute(db)
      await expect.poll(async () => (await getTide()).description).toBe(text)
    }
  })

  test('that listens through PgBouncer reports that notifications do not arrive, and caches nothing', async () => {
    const { errors, version, untilNoticed } = await openNode()
    await expect
      .poll(() => errors, { timeout: 20_000 })
      .toEqual([expect.stringContaining('set SHOAL_DATABASE_LISTEN_URL')])
    expect(version()).toBeUndefined()
    await untilNoticed() // waits for the maximum time that other nodes may need to notice a change
    expect(errors).toHaveLength(1)
    expect(version()).toBeUndefined()
  })
})
