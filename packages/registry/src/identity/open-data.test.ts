import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { connect } from '../database/connect.ts'
import { adoptStore, openAdmin, type RegistryConfig, startRegistry } from '../main.ts'
import { undoMigrations } from '../testing/older-database.ts'
import { publish, sha256, smallGguf } from '../testing/publish.ts'
import {
  describeOnEachDatabase,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../testing/test-registry.ts'

const bytes = smallGguf(1)

/** Publishes one file, stops the registry, and returns the file. */
async function publishOne(registry: TestRegistry) {
  const token = await registry.register('ana')
  const file = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  await registry.stop()
  return file
}

async function expectWhole(registry: TestRegistry, file: { id: string }) {
  const { body } = await registry.get(`/v1/files/tide/download/${file.id}`)
  const { direct_url } = body as { direct_url: string }
  expect(sha256((await registry.bytes(direct_url)).bytes)).toBe(sha256(bytes))
}

/**
 * Changes the data to the state in which version 0.1 left it: without identities, and without a record of the database.
 */
async function makeOld({ config }: TestRegistry) {
  const connection = await openDatabase(config)
  await connection.db.deleteFrom('secret').where('name', '=', 'store-identity').execute()
  await undoMigrations(connection, '0004_trash')
  await connection.close()
  await rm(join(config.dataDirectory, 'store', 'identity'))
  await rm(join(config.dataDirectory, 'database.json'))
}

const openDatabase = (config: RegistryConfig) =>
  connect({
    ...config,
    onConnectionLost: (error) => {
      throw error
    },
  })

const listObjects = async ({ config }: TestRegistry) =>
  (await readdir(join(config.dataDirectory, 'store', 'objects'), { recursive: true })).sort()

describeOnEachDatabase('registry data', (start) => {
  test('gets the same identity in the database and the store, and keeps it after a restart', async () => {
    const registry = await start()
    const path = join(registry.config.dataDirectory, 'store', 'identity')
    const identity = await readFile(path, 'utf8')
    expect(identity).toMatch(/^[0-9a-f-]{36}\n$/)
    await registry.restart()
    expect(await readFile(path, 'utf8')).toBe(identity)
    const { db } = await registry.connect()
    const query = db.selectFrom('secret').select('value').where('name', '=', 'store-identity')
    expect(await query.executeTakeFirstOrThrow()).toEqual({ value: identity.trim() })
  })

  test('gets an identity on the first start after an upgrade from version 0.1', async () => {
    const registry = await start()
    const file = await publishOne(registry)
    await makeOld(registry)
    await registry.start()
    await expectWhole(registry, file)
    const identity = join(registry.config.dataDirectory, 'store', 'identity')
    expect(await readFile(identity, 'utf8')).toMatch(/^[0-9a-f-]{36}\n$/)
  })

  test('from version 0.1 gets an identity even without files', async () => {
    const registry = await start()
    await registry.register('ana')
    await registry.stop()
    await makeOld(registry)
    await registry.start()
    expect((await registry.get('/v1/users/ana')).status).toBe(200)
  })

  test('from version 0.1 gets an identity even if the registry was stopped while processing its first file', async () => {
    const registry = await start()
    const file = await publishOne(registry)
    const connection = await openDatabase(registry.config)
    const { db } = connection
    const { object_key } = await db
      .selectFrom('blob')
      .select('object_key')
      .executeTakeFirstOrThrow()
    await db
      .updateTable('file')
      .set({ status: sql<never>`'processing'`, object_key, blob_hash: null })
      .execute()
    const chunk_hashes = Buffer.from(sha256(bytes), 'hex')
    await db.insertInto('upload_manifest').values({ file_id: file.id, chunk_hashes }).execute()
    await db.deleteFrom('blob_chunk').execute()
    await db.deleteFrom('blob').execute()
    await connection.close()
    await makeOld(registry)
    await registry.start()
    await expect
      .poll(async () => (await registry.get(`/v1/models/tide/files/${file.id}`)).status)
      .toBe(200)
    await expectWhole(registry, file)
  })

  test('from version 0.1 is refused if its objects are missing from the store', async () => {
    const registry = await start()
    const file = await publishOne(registry)
    await makeOld(registry)
    const objects = join(registry.config.dataDirectory, 'store', 'objects')
    const elsewhere = join(registry.config.dataDirectory, 'not-mounted')
    await cp(objects, elsewhere, { recursive: true })
    await rm(objects, { recursive: true })
    await expect(registry.start()).rejects.toThrow(/1 of 1 files .* cannot be found in .*store/)
    await rm(objects, { recursive: true })
    await cp(elsewhere, objects, { recursive: true })
    await registry.start()
    await expectWhole(registry, file)
  })

  test('opens after a crash between writing the identity to the database and to the store', async () => {
    const registry = await start()
    await registry.stop()
    await rm(join(registry.config.dataDirectory, 'store', 'identity'))
    await registry.start()
    expect((await registry.get('/readyz')).status).toBe(200)
  })

  test("is refused with another registry's store, both at startup and by shoal admin", async () => {
    const [registry, other] = [await start(), await start()]
    const file = await publishOne(registry)
    await publishOne(other)
    const before = await listObjects(registry)
    const identity = join(registry.config.dataDirectory, 'store', 'identity')
    const own = await readFile(identity)
    await cp(join(other.config.dataDirectory, 'store', 'identity'), identity)

    await expect(registry.start()).rejects.toThrow(/belong to different registries.*adopt-store/)
    await expect(openAdmin(registry.config)).rejects.toThrow(/belong to different registries/)
    expect(await listObjects(registry)).toEqual(before)

    await writeFile(identity, own)
    await registry.start()
    await expectWhole(registry, file)
  })

  test('is accepted with a restored store after the operator adopts the store', async () => {
    const registry = await start()
    const file = await publishOne(registry)
    await writeFile(join(registry.config.dataDirectory, 'store', 'identity'), 'another\n')
    await expect(registry.start()).rejects.toThrow(/adopt-store/)
    expect(await adoptStore(registry.config)).toEqual({ sampled: 1, missing: 0 })
    await registry.start()
    await expectWhole(registry, file)
    await expect(adoptStore(registry.config)).rejects.toThrow(/another registry is running/)
  })

  test('is not created by shoal admin', async () => {
    const registry = await start()
    await registry.stop()
    await rm(join(registry.config.dataDirectory, 'registry.sqlite'), { force: true })
    const config = { ...registry.config, databaseUrl: undefined }
    await expect(openAdmin(config)).rejects.toThrow(/registry.sqlite|DATABASE_URL/)
    const empty = { ...config, dataDirectory: join(config.dataDirectory, 'empty') }
    await mkdir(empty.dataDirectory)
    await expect(openAdmin(empty)).rejects.toThrow(/no registry in/)
    await expect(adoptStore(empty)).rejects.toThrow(/no registry in/)
    expect(await readdir(empty.dataDirectory)).toEqual([])
  })
})

test.skipIf(!hasPostgres)(
  'if DATABASE_URL is forgotten, no SQLite database is created, and the error contains the name of the right database',
  async () => {
    const databaseUrl = await makeDatabase()
    const registry = await startTestRegistry({ databaseUrl })
    const file = await publishOne(registry)
    const { dataDirectory } = registry.config
    const forgotten = { ...registry.config, databaseUrl: undefined }
    const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1))

    for (const open of [startRegistry, openAdmin, adoptStore]) {
      await expect(open(forgotten)).rejects.toThrow(`the PostgreSQL database "${name}"`)
    }
    await makeOld(registry)
    for (const open of [startRegistry, openAdmin, adoptStore]) {
      await expect(open(forgotten)).rejects.toThrow('set DATABASE_URL')
    }
    expect(await readdir(dataDirectory)).not.toContain('registry.sqlite')

    await registry.start()
    await expectWhole(registry, file)
    const note = await readFile(join(dataDirectory, 'database.json'), 'utf8')
    expect(JSON.parse(note)).toMatchObject({ engine: 'postgres', database: name })
    await registry.close()
  },
)

test.skipIf(!hasPostgres)(
  'a new database is refused if the store was used before, and a SQLite registry is not replaced by an empty one',
  async () => {
    const registry = await startTestRegistry()
    await registry.register('ana')
    await registry.stop()
    const databaseUrl = await makeDatabase()
    await expect(registry.start({ databaseUrl })).rejects.toThrow(/is new, but/)

    await registry.start()
    await publish(registry, await signIn(registry), { name: 'tide' }, 'tide.gguf', bytes)
    await registry.stop()
    await rm(join(registry.config.dataDirectory, 'database.json'))
    await expect(registry.start({ databaseUrl })).rejects.toThrow(/is new, but/)
    await rm(join(registry.config.dataDirectory, 'store', 'identity'))
    await expect(registry.start({ databaseUrl })).rejects.toThrow(/is new, but/)
    await registry.close()
  },
)

test('a damaged database.json causes an error that contains the path of the file', async () => {
  const registry = await startTestRegistry()
  await registry.stop()
  await writeFile(join(registry.config.dataDirectory, 'database.json'), '{"engine": "mysql"}')
  await expect(registry.start()).rejects.toThrow(/database\.json is damaged/)
  await registry.close()
})

test('other users of the machine cannot read the database and the store, even if an earlier version allowed it', async () => {
  const registry = await startTestRegistry()
  const folder = registry.config.dataDirectory
  const modes = async () => {
    const names = (await readdir(folder)).filter((name) => /^(registry\.sqlite|store$)/.test(name))
    const found = names.map(async (name) => [name, (await stat(join(folder, name))).mode & 0o777])
    return Object.fromEntries(await Promise.all(found))
  }
  const right = {
    'registry.sqlite': 0o600,
    'registry.sqlite-shm': 0o600,
    'registry.sqlite-wal': 0o600,
    store: 0o750,
  }
  expect(await modes()).toEqual(right)
  await registry.stop()
  await chmod(join(folder, 'registry.sqlite'), 0o644)
  await chmod(join(folder, 'store'), 0o755)
  await registry.start()
  expect(await modes()).toEqual(right)
  await registry.close()
})

async function signIn(registry: TestRegistry): Promise<string> {
  const { body } = await registry.post('/v1/auth/login', {
    body: { username: 'ana', password: 'password of ana' },
  })
  return (body as { access_token: string }).access_token
}
