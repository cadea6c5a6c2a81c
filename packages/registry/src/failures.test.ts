/** Tests how the registry responds to clients while one of its dependencies is broken, and that it recovers. */
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SignedIn, StartedUpload } from '@shoal/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../testing/servers.ts'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { breakableLine } from './testing/breakable-line.ts'
import { manifestFor, publish, settled, smallGguf } from './testing/publish.ts'
import { makeDatabase, startTestRegistry } from './testing/test-registry.ts'

test.skipIf(!hasPostgres)(
  'while the database (PostgreSQL) is unreachable, responses are 503 with Retry-After, and downloads continue',
  async () => {
    const url = new URL(await makeDatabase())
    const line = await breakableLine(join(decodeURIComponent(url.hostname), '.s.PGSQL.5432'))
    onTestFinished(() => line.cut())
    const databaseUrl = `postgres://shoal@127.0.0.1:${line.port}${url.pathname}`
    const registry = await startTestRegistry({ databaseUrl })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    const bytes = smallGguf(1)
    const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
    const { body: download } = await registry.get(`/v1/files/tide/download/${id}`)
    const { direct_url } = download as { direct_url: string }

    await line.cut()
    expect((await registry.bytes(direct_url)).bytes.equals(bytes)).toBe(true)
    for (const path of ['/v1/models', '/readyz']) {
      const { status, headers, body } = await registry.get(path)
      expect([path, status]).toEqual([path, 503])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(body).toEqual({ detail: expect.not.stringMatching(/select|ECONN|5432/) })
    }
    expect((await registry.get('/healthz')).status).toBe(200)

    await line.restore()
    expect((await registry.get('/v1/models')).status).toBe(200)
  },
)

test('the log has one line per request, and no secrets', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'registry.log')
  const registry = await startTestRegistry({ log: { file } })
  const { body }: { body: SignedIn } = await registry.post('/v1/auth/register', {
    body: { username: 'ana', password: 'a very secret password' },
  })
  const token = body.access_token
  await registry.get('/v1/auth/me', { token, headers: { 'x-request-id': 'who-am-i' } })
  await registry.get(`/v1/files/chunks/${'a'.repeat(64)}/some-capability-token`)
  await registry.get('/blobs/key?X-Amz-Signature=a-signature')
  await registry.close()
  const log = await readFile(file, 'utf8')
  const lines = log.split('\n').filter((line) => line.includes('"msg":"request"'))
  expect(lines).toHaveLength(4)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({
    reqId: 'who-am-i',
    method: 'GET',
    path: '/v1/auth/me',
    status: 200,
    user: 'ana',
  })
  for (const secret of [token, 'a very secret password', 'some-capability-token', 'a-signature']) {
    expect(log).not.toContain(secret)
  }
})

test('while the store is unavailable, requests that need it get 503 with Retry-After, and no file is considered lost', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.close())
  const token = await registry.register('ana')
  const bytes = smallGguf(1)
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  const { body: download } = await registry.get(`/v1/files/tide/download/${id}`)
  const { direct_url } = download as { direct_url: string }
  const files = '/v1/models/tide/files'
  const other = manifestFor('other.gguf', smallGguf(2))
  const { body: open }: { body: StartedUpload } = await registry.post(files, { token, body: other })
  const [chunk] = open.upload.missing_chunks

  const store = join(registry.config.dataDirectory, 'store')
  await rename(store, `${store}.away`)
  for (const folder of ['objects', 'uploads']) await mkdir(join(store, folder), { recursive: true })
  const answers = {
    start: await registry.post(files, { token, body: manifestFor('new.gguf', smallGguf(3)) }),
    resume: await registry.post(files, { token, body: other }),
    chunk: await registry.call('PUT', chunk?.url ?? '', { bytes: smallGguf(2) }),
    complete: await registry.post(`${files}/${open.id}/complete`, { token }),
    bytes: await registry.get(direct_url),
    ready: await registry.get('/readyz'),
  }
  for (const [name, { status, headers }] of Object.entries(answers)) {
    expect([name, status]).toEqual([name, 503])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }

  await rm(store, { recursive: true })
  await rename(`${store}.away`, store)
  expect((await registry.bytes(direct_url)).bytes.equals(bytes)).toBe(true)
  expect((await registry.call('PUT', chunk?.url ?? '', { bytes: smallGguf(2) })).status).toBe(200)
  await registry.post(`${files}/${open.id}/complete`, { token })
  expect(await settled(registry, token, 'tide', open.id)).toMatchObject({ status: 'ready' })
})
