/** Tests counting downloads while the database's disk is full: the journal, and the counter that uses it. */
import { once } from 'node:events'
import {
  appendFile,
  chmod,
  chown,
  copyFile,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelRecord } from '@shoal/protocol'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../../../testing/postgres.ts'
import { hasPostgres } from '../../../../../testing/servers.ts'
import { canMount, smallDisk } from '../../../../../testing/small-disk.ts'
import { temporaryFolder } from '../../../../../testing/temporary-folder.ts'
import type { Connection } from '../../database/connect.ts'
import type { Database } from '../../database/schema.ts'
import { publish, smallGguf } from '../../testing/publish.ts'
import {
  type Answer,
  describeOnEachDatabase,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../../testing/test-registry.ts'
import { downloadCounter } from './download-counter.ts'
import { downloadJournal } from './download-journal.ts'
import { recordSize } from './journal-record.ts'

const noOrder = { follow: () => undefined }

describeOnEachDatabase('the download journal', (start) => {
  let registry: TestRegistry
  let connection: Connection
  let tide: ModelRecord
  let reef: ModelRecord

  beforeAll(async () => {
    registry = await start()
    connection = await registry.connect()
    const token = await registry.register('ana')
    const create = async (name: string) =>
      (await registry.post('/v1/models', { token, body: { name } })).body as ModelRecord
    tide = await create('tide')
    reef = await create('reef')
  })

  async function journal(path?: string) {
    const folder = temporaryFolder()
    const at = path ?? join(folder, 'downloads.journal')
    const opened = downloadJournal({ ...connection, path: at })
    const added = await opened.apply()
    return { ...opened, path: at, added }
  }

  /** Returns by how much `act` increases the model's download count. */
  async function addedTo(model: ModelRecord, act: () => Promise<unknown>): Promise<number> {
    const count = async () => {
      const rows = connection.db
        .selectFrom('model_downloads')
        .select('downloads')
        .where('model_id', '=', model.id)
      return (await rows.executeTakeFirstOrThrow()).downloads
    }
    const before = await count()
    await act()
    return (await count()) - before
  }

  const countOf = (model: ModelRecord, count: number) => new Map([[model.id, count]])

  test('adds its counts only once, even if it is applied twice or reopened', async () => {
    const first = await journal()
    await first.append(
      new Map([
        [tide.id, 3],
        [reef.id, 1],
      ]),
    )
    await first.append(countOf(tide, 2))
    expect(first.pendingCount()).toBe(6)
    expect(await addedTo(tide, () => journal(first.path))).toBe(5)
    expect(await addedTo(tide, first.apply)).toBe(0)
    expect(first.pendingCount()).toBe(0)
    expect(await stat(first.path)).toMatchObject({ size: 0 })
    expect((await journal(first.path)).added).toBe(0)
    await first.append(countOf(tide, 4))
    expect(await addedTo(tide, first.apply)).toBe(4)
  })

  test('makes room on the disk before it writes', async () => {
    const { path } = await journal()
    const rooms: number[] = []
    const makeRoom = (bytes: number) => void rooms.push(bytes)
    const small = downloadJournal({ ...connection, path, makeRoom })
    await small.append(countOf(tide, 1))
    expect(rooms).toEqual([expect.any(Number)])
    expect(rooms[0]).toBeGreaterThan((await stat(path)).size)
    expect(await addedTo(tide, small.apply)).toBe(1)
  })

  test('skips an incomplete record and applies its neighbors', async () => {
    const first = await journal()
    for (const count of [1, 10, 100]) await first.append(countOf(tide, count))
    const bytes = await readFile(first.path)
    bytes.fill(1, recordSize + 48, 2 * recordSize) // overwrite the end of the second record, which holds the count
    await writeFile(first.path, bytes)
    expect(await addedTo(tide, () => journal(first.path))).toBe(101)
  })

  test('appends after an incomplete record at the end of the file', async () => {
    const first = await journal()
    await first.append(countOf(tide, 1))
    await appendFile(first.path, 'half a record')
    const second = downloadJournal({ ...connection, path: first.path })
    await second.append(countOf(tide, 10))
    expect(await addedTo(tide, () => journal(first.path))).toBe(11)
  })

  test('a file of version 0.1 is applied, including its empty places', async () => {
    const first = await journal()
    await first.append(countOf(tide, 3))
    const places = Buffer.alloc(16_384 * recordSize)
    ;(await readFile(first.path)).copy(places, 5 * recordSize)
    for (const [bytes, added] of [
      [places, 3],
      [Buffer.alloc(places.length), 0],
    ] as const) {
      await writeFile(first.path, bytes)
      expect((await journal(first.path)).added).toBe(added)
      expect(await stat(first.path)).toMatchObject({ size: 0 })
    }
  })

  test('downloads are not counted twice after a crash right after the commit', async () => {
    const first = await journal()
    await first.append(countOf(tide, 4))
    const copy = `${first.path}.copy`
    await copyFile(first.path, copy)
    expect(await addedTo(tide, first.apply)).toBe(4)
    expect(await addedTo(tide, () => journal(copy))).toBe(0)
  })

  test('processes that apply copies of the same file add its counts only once', async () => {
    const first = await journal()
    await first.append(countOf(tide, 7))
    const copies = [1, 2, 3].map((number) => `${first.path}.${number}`)
    for (const copy of copies) await copyFile(first.path, copy)
    expect(await addedTo(tide, () => Promise.all(copies.map((copy) => journal(copy))))).toBe(7)
  })

  test('a deleted model does not prevent the downloads of other models from being counted', async () => {
    const { append, apply } = await journal()
    await append(
      new Map([
        [crypto.randomUUID(), 5],
        [reef.id, 2],
      ]),
    )
    expect(await addedTo(reef, apply)).toBe(2)
  })

  test('many models are counted in one commit, even if another node counts the same models', async () => {
    const token = await registry.register('bea')
    const models: ModelRecord[] = []
    for (let index = 0; index < 30; index += 1) {
      const body = { name: `many-${index}` }
      models.push((await registry.post('/v1/models', { token, body })).body as ModelRecord)
    }
    await useEveryOrder(connection)
    const unused = { append: () => Promise.reject(new Error('the database has room')) }
    const counters = [await registry.connect(), await registry.connect()].map((one) =>
      downloadCounter({ connection: one, journal: unused, order: noOrder }),
    )
    const calls = counters.flatMap((counter, turn) =>
      Array.from({ length: 10 }, () => (turn === 0 ? models : models.toReversed())).flatMap((all) =>
        all.map(({ id }) => counter.count(id)),
      ),
    )
    await Promise.all(calls)
    for (const { name } of models) {
      expect((await registry.get(`/v1/models/${name}`)).body).toMatchObject({ downloads: 20 })
    }
  })
})

/**
 * Makes PostgreSQL update rows in the order in which the query lists their IDs, as it may do if there are many rows.
 */
async function useEveryOrder({ db, engine }: Connection) {
  if (engine === 'sqlite') return
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  for (const plan of ['enable_hashjoin', 'enable_mergejoin', 'enable_seqscan']) {
    await sql`alter database ${sql.id(rows[0]?.name ?? '')} set ${sql.id(plan)} = off`.execute(db)
  }
}

test.skipIf(!hasPostgres || !canMount)(
  'downloads are counted in the journal while the PostgreSQL disk is full',
  async () => {
    const { disk, databaseUrl } = await smallPostgres()
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    const file = join(dataDirectory, 'registry.log')
    const registry = await startTestRegistry({ databaseUrl, dataDirectory, log: { file } })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    const downloads: (() => Promise<Answer>)[] = []
    for (let index = 0; index < 12; index += 1) {
      const model = { name: `tide-${index}` }
      const published = await publish(registry, token, model, 'a.gguf', smallGguf(1))
      downloads.push(() => registry.get(`/v1/files/${model.name}/download/${published.id}`))
    }
    // An old snapshot makes PostgreSQL keep every version of a counter's row, so that updates soon need a new disk
    // block.
    const snapshot = new pg.Client({ connectionString: databaseUrl })
    await snapshot.connect()
    await snapshot.query('begin isolation level repeatable read')
    await snapshot.query('select 1 from model_downloads')
    disk.fill()
    const answers: Answer[] = []
    const isJournalled = async () =>
      /^shoal_download_journal_pending [1-9]\d*$/m.test((await registry.get('/metrics')).text)
    let rounds = 0
    do {
      answers.push(...(await Promise.all(downloads.map((download) => download()))))
      rounds += 1
    } while (rounds < 100 && !(await isJournalled()))
    expect(rounds).toBeLessThan(100)
    await snapshot.end()
    const refusals = (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"err"'))
    expect(
      answers.map(({ status }) => status).filter((status) => status !== 200),
      refusals.join('\n'),
    ).toEqual([])
    const create = await registry.post('/v1/models', { token, body: largeModel })
    expect(create.body).toMatchObject({ code: 'storage_full' })
    expect(create.status).toBe(503)

    await disk.free()
    const counts = async () =>
      ((await registry.get('/v1/models')).body as ModelRecord[]).map(({ downloads: all }) => all)
    await expect.poll(counts).toEqual(Array.from({ length: 12 }, () => rounds))
  },
)

test.skipIf(!hasPostgres || !canMount)(
  'requests that need a new database session while the PostgreSQL disk is full receive 503 storage_full',
  async () => {
    const { disk, serverUrl, databaseUrl } = await smallPostgres()
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    // Delete the catalog caches, as PostgreSQL does after a catalog change.
    for await (const cache of glob(join(disk.path, '**/pg_internal.init'))) await rm(cache)
    disk.fill()
    const admin = new pg.Client({ connectionString: serverUrl })
    await admin.connect()
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'small'",
    )
    await admin.end()
    const answers: Answer[] = []
    const requestModel = async () => {
      const answer = await registry.get('/v1/models/tide')
      answers.push(answer)
      return answer
    }
    await expect.poll(requestModel).toMatchObject({ status: 503, body: { code: 'storage_full' } })
    expect(answers.map(({ status }) => status)).not.toContain(500)

    await disk.free()
    await expect.poll(requestModel).toMatchObject({ status: 404 })
  },
)

test.skipIf(!hasPostgres)(
  'a call rejects if its count may have been committed, and the count is not added to the journal',
  async () => {
    const databaseUrl = await makeDatabase()
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    const { body }: { body: ModelRecord } = await registry.post('/v1/models', {
      token,
      body: { name: 'tide' },
    })
    const line = await deafLine(databaseUrl, 'no key update')
    const pool = new pg.Pool({ connectionString: line.url })
    pool.on('connect', (client) => client.on('error', () => undefined)) // the query fails with the same error
    onTestFinished(async () => {
      await pool.end()
      await line.close()
    })
    const journalled: unknown[] = []
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
    const counter = downloadCounter({
      connection: {
        engine: 'postgres',
        writeUnsynced: (write) => write(db),
        sync: async () => undefined,
      },
      journal: { append: async (counts) => void journalled.push(counts) },
      order: noOrder,
    })
    await expect(counter.count(body.id)).rejects.toThrow(/terminated|reset/)
    expect(journalled).toEqual([])
    expect((await registry.get('/v1/models/tide')).body).toMatchObject({ downloads: 1 })
  },
)

const largeModel = { name: 'large', description: 'x'.repeat(1000), readme: 'y'.repeat(500_000) }

/**
 * Starts a PostgreSQL server with a database on a small disk. The server is not shared with other tests, because their
 * sessions would have to write this database's pages to the full disk when they need a buffer.
 */
async function smallPostgres() {
  const disk = await smallDisk('40m')
  onTestFinished(disk.unmount)
  const server = await startPostgres()
  onTestFinished(async () => {
    await disk.free()
    await server?.stop()
  })
  const serverUrl = server?.url ?? ''
  return { disk, serverUrl, databaseUrl: await databaseOn(disk.path, serverUrl) }
}

/** Creates a database whose tables are all on the disk at `path`, and returns the database's URL. */
async function databaseOn(path: string, serverUrl: string): Promise<string> {
  const admin = new pg.Client({ connectionString: serverUrl })
  await admin.connect()
  // Autovacuum changes the catalogs; the next session would then need disk space to write its catalog cache.
  await admin.query('alter system set autovacuum = off')
  await admin.query('select pg_reload_conf()')
  const { rows } = await admin.query("select current_setting('data_directory') as path")
  const { uid, gid } = await stat(rows[0].path)
  const location = join(path, 'tables')
  await mkdir(location)
  await chown(location, uid, gid)
  await chmod(path, 0o755)
  await admin.query(`create tablespace small location '${location}'`)
  await admin.query('create database small tablespace small')
  // CREATE DATABASE leaves holes in the new database's files. Fill them now: on a full disk, a session that needs a
  // buffer could not fill them.
  await admin.query('checkpoint')
  await admin.end()
  return serverUrl.replace(/\/postgres$/, '/small')
}

/**
 * Starts a proxy in front of the database. The proxy breaks a connection after the server has executed a statement that
 * contains `words`. The client does not receive the response, so it cannot know whether the statement was executed.
 */
async function deafLine(databaseUrl: string, words: string) {
  const { hostname, pathname } = new URL(databaseUrl)
  const server = createServer((incoming) => {
    const outgoing = connect(join(decodeURIComponent(hostname), '.s.PGSQL.5432'))
    let isDeaf = false
    for (const socket of [incoming, outgoing]) socket.on('error', () => socket.destroy())
    incoming.on('data', (bytes) => {
      isDeaf ||= bytes.includes(words)
      outgoing.write(bytes)
    })
    outgoing.on('data', (bytes) => {
      // "UPDATE " is the tag of a CommandComplete message. It means that the statement, and therefore its transaction,
      // is complete.
      if (!isDeaf) incoming.write(bytes)
      else if (bytes.includes('UPDATE ')) incoming.destroy()
    })
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://shoal@127.0.0.1:${port}${pathname}`,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
