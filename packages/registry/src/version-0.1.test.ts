/** Tests that a registry can use the data folder of a version 0.1 registry that was killed during an upload. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Download, ModelFile, StartedUpload } from '@shoal/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../testing/version-0.1/fixture.ts'
import { openFixture } from '../../../testing/version-0.1/open-fixture.ts'
import { manifestFor, settled, sha256 } from './testing/publish.ts'
import { startTestRegistry, type TestRegistry } from './testing/test-registry.ts'

const stack = new AsyncDisposableStack()
let opened: Awaited<ReturnType<typeof openFixture>>
let registry: TestRegistry
let token: string
let columnsBefore: Record<string, string[]>

beforeAll(async () => {
  opened = stack.use(await openFixture())
  token = opened.apiKey
  columnsBefore = listColumns(opened.data)
  registry = await startTestRegistry({ dataDirectory: opened.data })
  stack.defer(() => registry.close())
})
afterAll(() => stack.disposeAsync())

const answers: Record<string, object> = JSON.parse(await readFile(fixture.answersPath, 'utf8'))

test.for(fixture.answered)('the response to a GET of %s is unchanged', async (path) => {
  const { status, body } = await registry.get(path, { token })
  expect(status).toBe(200)
  expect(body).toMatchObject(answers[path] ?? {})
})

test('passwords and sessions work, and private models stay private', async () => {
  const { ana, bea } = fixture
  expect(await registry.post('/v1/auth/login', { body: ana })).toMatchObject({ status: 200 })
  const wrong = { ...bea, password: ana.password }
  expect(await registry.post('/v1/auth/login', { body: wrong })).toMatchObject({ status: 401 })
  const { body } = await registry.post('/v1/auth/login', { body: bea })
  const { access_token } = body as { access_token: string }
  expect(await registry.get('/v1/models/reef', { token: access_token })).toMatchObject({
    status: 404,
  })
  const { body: liked } = await registry.get('/v1/models/tide', { token: access_token })
  expect(liked).toMatchObject({ liked: true, readme: fixture.card })
})

test('a download returns the bytes, and is added to the earlier count', async () => {
  const { body: files } = await registry.get('/v1/models/tide/files')
  const [file] = files as ModelFile[]
  const path = `/v1/files/tide/download/${file?.id}`
  const { direct_url }: Download = (await registry.get(path)).body
  const { bytes } = await registry.bytes(direct_url)
  expect(sha256(bytes)).toBe(file?.sha256_hash)
  const { downloads } = answers['/v1/models/tide'] as { downloads: number }
  const after = await registry.get('/v1/models/tide')
  expect(after.body).toMatchObject({ downloads: downloads + 1 })
})

test('an unfinished upload only needs its missing chunks', async () => {
  const filename = 'gale-Q8_0.gguf'
  const bytes = await readFile(join(opened.files, filename))
  const manifest = manifestFor(filename, bytes)
  const { status, body } = await registry.post('/v1/models/gale/files', { token, body: manifest })
  const { id, upload }: StartedUpload = body
  expect(status).toBe(200)
  expect(upload.missing_chunks.map(({ index }) => index)).toEqual([0])
  const [{ url = '', headers = {} } = {}] = upload.missing_chunks
  await registry.call('PUT', url, { headers, bytes: bytes.subarray(0, fixture.chunkSize) })
  await registry.post(`/v1/models/gale/files/${id}/complete`, { token })
  const file = await settled(registry, token, 'gale', id)
  expect(file).toMatchObject({ status: 'ready', sha256_hash: sha256(bytes) })
})

/** Search tables, which contained only copies of data in `model`. Migration 0007 drops them. */
const copies = /^(model_search|search_term|model_tag|model_quantization)/

test('no columns are lost', () => {
  const columns = listColumns(opened.data)
  for (const [table, names] of Object.entries(columnsBefore)) {
    if (copies.test(table)) continue
    expect(columns[table], table).toEqual(expect.arrayContaining(names))
  }
})

/** Lists the column names of each table. */
function listColumns(directory: string): Record<string, string[]> {
  const database = new DatabaseSync(join(directory, 'registry.sqlite'), { readOnly: true })
  const rows = database
    .prepare(
      `select t.name as "table", c.name as "column"
      from sqlite_schema as t, pragma_table_info(t.name) as c where t.type = 'table'`,
    )
    .all() as { table: string; column: string }[]
  database.close()
  const columns: Record<string, string[]> = {}
  for (const { table, column } of rows) {
    columns[table] = [...(columns[table] ?? []), column]
  }
  return columns
}
