/** Tests a registry under load while PostgreSQL closes connections, crashes or stops responding. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelRecord } from '@shoal/protocol'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../../testing/postgres.ts'
import { hasPostgres } from '../../../../testing/servers.ts'
import { openAdmin } from '../main.ts'
import { breakableLine } from '../testing/breakable-line.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { makeDatabase, startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'
import { connect } from './connect.ts'

const testOnPostgres = test.skipIf(!hasPostgres)

const cutOthers = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

testOnPostgres('cutting connections under load causes only 503s and loses no counts', async () => {
  const databaseUrl = await makeDatabase()
  const registry = await startTestRegistry({ databaseUrl })
  onTestFinished(() => registry.close())
  const load = await startLoad(registry)
  const scissors = await observer(databaseUrl)
  for (let cut = 0; cut < 100; cut += 1) {
    await scissors.query(cutOthers)
    await load.untilAnswered(5)
  }
  await load.end()

  load.expectSuccessOr503()
  expect(load.answered(503)).toBeGreaterThan(0)
  await expectFullService(registry)
  expect(await getDownloads(registry)).toBe(load.downloaded())
})

testOnPostgres('a crash and restart of the server under load causes only 503s', async () => {
  const server = await ownPostgres()
  const registry = await startTestRegistry({ databaseUrl: await makeDatabase(server) })
  onTestFinished(() => registry.close())
  const load = await startLoad(registry)
  for (let crash = 0; crash < 2; crash += 1) {
    await server.restart('immediate')
    await load.untilAnswered(20)
  }
  await load.end()

  load.expectSuccessOr503()
  await expectFullService(registry)
  // a download that was committed just before the crash may have received a 503
  expect(await getDownloads(registry)).toBeGreaterThanOrEqual(load.downloaded())
})

testOnPostgres(
  'a server that stops responding causes 503s within seconds, and its connections are replaced',
  async () => {
    const { line, databaseUrl } = await lineToDatabase()
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    await Promise.all(Array.from({ length: 20 }, () => registry.get('/v1/models/tide')))

    line.stall()
    const stalledAt = performance.now()
    const answers = await Promise.all([
      ...Array.from({ length: 15 }, () => registry.get('/v1/models/tide', { token })), // not cached
      ...Array.from({ length: 15 }, () => registry.post('/v1/models/tide/like', { token })),
    ])
    for (const { status, headers } of answers) {
      expect(status).toBe(503)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const statementTimeoutMs = 30_000
    expect(performance.now() - stalledAt).toBeLessThan(statementTimeoutMs / 2)
    expect((await registry.get('/healthz')).status).toBe(200)

    await line.restore()
    await expectFullService(registry)
  },
)

testOnPostgres('a registry closes even if its database does not respond', async () => {
  const { line, databaseUrl } = await lineToDatabase()
  const statementTimeoutMs = 3_600_000 // so that the registry does not close because the statement has ended
  const registry = await startTestRegistry({ databaseUrl, statementTimeoutMs })
  await registry.get('/v1/models')
  line.stall()
  const pending = registry.get('/v1/models').catch(() => 'cut off')
  await sleep(50)
  await registry.close()
  await pending
})

testOnPostgres(
  'a slow statement is canceled on the server, inside and outside a transaction, unless it has no time limit',
  async () => {
    const databaseUrl = await makeDatabase()
    const connection = await openConnection(databaseUrl, 300)
    const { db, unboundedDb } = connection
    const sleeping = sql`select pg_sleep(60)`
    await expect(sleeping.execute(db)).rejects.toThrow('did not respond within 0.3 s')
    await expect(db.transaction().execute((trx) => sleeping.execute(trx))).rejects.toMatchObject({
      code: '57014',
    })
    await sql`select pg_sleep(3)`.execute(unboundedDb)

    const observing = await observer(databaseUrl)
    const running = async () =>
      (
        await observing.query(`select 1 from pg_stat_activity where query = 'select pg_sleep(60)'
        and state <> 'idle'`)
      ).rows.length
    await expect.poll(running).toBe(0)
    const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(db)
    expect(rows).toEqual([{ statement_timeout: '0' }]) // the timeout applied only to the transaction
  },
)

testOnPostgres('a limited number of callers wait up to 4.5 s for a connection', async () => {
  const { db } = await openConnection(await makeDatabase())
  const holders = Array.from({ length: 10 }, () => sql`select pg_sleep(8)`.execute(db))
  const started = performance.now()
  const waiters = await Promise.allSettled(
    Array.from({ length: 1_050 }, () => sql`select 1`.execute(db)),
  )
  const reasons = waiters.map((waiter) =>
    waiter.status === 'rejected' ? waiter.reason.message : '',
  )
  const count = (text: string) => reasons.filter((reason) => reason === text).length
  const refused = count('too many requests are waiting for the database')
  expect(refused).toBeGreaterThanOrEqual(50) // 60 if the 10 `holders` also had to wait for connections
  expect(refused).toBeLessThanOrEqual(60)
  expect(refused + count('timeout exceeded when trying to connect')).toBe(1_050)
  expect(performance.now() - started).toBeGreaterThan(4_400)
  await Promise.all(holders)
  await sql`select 1`.execute(db)
})

testOnPostgres('a transaction reports its first error', async () => {
  const { db } = await openConnection(await makeDatabase())
  const failing = db.transaction().execute(async (trx) => {
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx).catch(() => undefined)
    throw new Error('the first error')
  })
  await expect(failing).rejects.toThrow('the first error')
  await sql`select 1`.execute(db)
})

testOnPostgres(
  'shoal admin recovers from a lost connection, and reports a readable error if the database is unreachable',
  async () => {
    const { line, databaseUrl } = await lineToDatabase()
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    await registry.register('ana')
    const admin = await openAdmin(registry.config)
    onTestFinished(() => admin.close())
    const scissors = await observer(registry.config.databaseUrl ?? '')
    await scissors.query(cutOthers)
    // The first call may fail if the pool has not noticed yet that its connection was cut.
    await expect.poll(() => admin.users.list(), { timeout: 10_000 }).toHaveLength(1)

    await line.cut()
    await expect(admin.users.list()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^the database is unreachable or has closed the connection \(.+\): try again$/,
      ),
    })
    await line.restore()
  },
)

async function ownPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  if (!server) throw new Error('PostgreSQL is not installed')
  onTestFinished(() => server.stop())
  return server
}

/** Creates a separate database, and a proxy in front of it that can break connections. */
async function lineToDatabase() {
  const url = new URL(await makeDatabase())
  const line = await breakableLine(join(decodeURIComponent(url.hostname), '.s.PGSQL.5432'))
  onTestFinished(() => line.cut())
  return { line, databaseUrl: `postgres://shoal@127.0.0.1:${line.port}${url.pathname}` }
}

async function openConnection(databaseUrl: string, statementTimeoutMs?: number) {
  const connection = await connect({
    databaseUrl,
    dataDirectory: '',
    onConnectionLost: () => undefined,
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  })
  onTestFinished(() => connection.close())
  return connection
}

/** Opens a connection to the database that is independent of the registry's pool. */
async function observer(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => undefined) // the server may stop before the client is closed
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Publishes a model named tide, and continuously downloads, likes and changes it. */
async function startLoad(registry: TestRegistry) {
  const token = await registry.register('ana')
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
  const calls = {
    download: () => registry.get(`/v1/files/tide/download/${id}`),
    like: () => registry.post('/v1/models/tide/like', { token }),
    change: () =>
      registry.call('PATCH', '/v1/models/tide', { token, body: { description: 'high water' } }),
  }
  const answers: { call: string; status: number; retryAfter: string | null }[] = []
  let isEnding = false

  async function repeat(call: keyof typeof calls) {
    while (!isEnding) {
      const { status, headers } = await calls[call]()
      answers.push({ call, status, retryAfter: headers.get('retry-after') })
    }
  }
  const callers = [
    'download',
    'download',
    'download',
    'download',
    'like',
    'like',
    'change',
  ] as const
  const running = callers.map(repeat)
  const count = (is: (answer: (typeof answers)[number]) => boolean) => answers.filter(is).length

  return {
    async untilAnswered(more: number) {
      const enough = answers.length + more
      while (answers.length < enough) await sleep(1)
    },
    async end() {
      isEnding = true
      await Promise.all(running)
    },
    answered: (wanted: number) => count(({ status }) => status === wanted),
    downloaded: () => count(({ call, status }) => call === 'download' && status === 200),
    expectSuccessOr503() {
      const wrong = answers.filter(({ status, retryAfter }) =>
        status === 503 ? !(Number(retryAfter) > 0) : status >= 300,
      )
      expect(wrong).toEqual([])
    },
  }
}

/** Sends more concurrent requests than the pool has connections, so that every connection in the pool is used. */
async function expectFullService(registry: TestRegistry) {
  const calls = Array.from({ length: 30 }, () => registry.get('/v1/models/tide'))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses).toEqual(statuses.map(() => 200))
}

async function getDownloads(registry: TestRegistry): Promise<number> {
  const { body }: { body: ModelRecord } = await registry.get('/v1/models/tide')
  return body.downloads
}
