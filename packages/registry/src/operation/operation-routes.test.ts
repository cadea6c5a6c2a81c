import { mkdtemp, readFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { movedClock } from '@shoal/core/testing'
import type { Download, RegistryStatus } from '@shoal/protocol'
import { expect, inject, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { readRegistryConfig } from '../config.ts'
import { breakableLine } from '../testing/breakable-line.ts'
import { manifestFor, publish, smallGguf } from '../testing/publish.ts'
import { rawRequest } from '../testing/raw-request.ts'
import {
  describeApi,
  everywhere,
  makeDatabase,
  startTestRegistry,
  type TestRegistry,
} from '../testing/test-registry.ts'

const ownAddress = inject('ownAddress')
const probes = ['/healthz', '/readyz']
const metricsToken = 'a token for Prometheus'.replaceAll(' ', '-')

async function startHere(settings: Parameters<typeof startTestRegistry>[0]): Promise<TestRegistry> {
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.close())
  return registry
}

describeApi('probes', { on: everywhere }, (start, oneNodeTest) => {
  test('respond to any number of requests, under any hostname and with any credentials', async () => {
    const limit = { max: 2, windowSeconds: 60 }
    const rateLimits = { auth: limit, write: limit, read: limit, chunk: limit, tracker: limit }
    const registry = await start({ rateLimits, isAnonymousReadAllowed: false })
    const unknown = { authorization: 'Bearer nonsense', cookie: 'shoal_session=nonsense' }
    for (const path of probes) {
      for (let call = 0; call < 10; call += 1) {
        expect((await registry.get(path, { headers: unknown })).status).toBe(200)
      }
      const request = `GET ${path} HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: close\r\n\r\n`
      expect((await rawRequest(registry.port, request)).status).toBe(200)
    }
    expect((await registry.get('/openapi.json')).headers.has('ratelimit-limit')).toBe(true)
  })

  oneNodeTest('return 503 while the store is unavailable, and recover', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    const clock = movedClock()
    const registry = await start({ dataDirectory, clock })
    const objects = join(dataDirectory, 'store', 'objects')
    await rename(objects, `${objects}-away`)
    const { status, headers, body } = await registry.get('/readyz')
    expect([status, body]).toEqual([503, { detail: 'the store is not available' }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await registry.get('/healthz')).status).toBe(200)
    await rename(`${objects}-away`, objects)
    clock.advance(999)
    expect((await registry.get('/readyz')).status).toBe(503)
    clock.advance(1)
    expect((await registry.get('/readyz')).status).toBe(200)
  })
})

test.skipIf(!hasPostgres)(
  'if the database (PostgreSQL) stops responding, /readyz returns 503, and /healthz is unaffected',
  async () => {
    const url = new URL(await makeDatabase())
    const line = await breakableLine(join(decodeURIComponent(url.hostname), '.s.PGSQL.5432'))
    onTestFinished(() => line.cut())
    const databaseUrl = `postgres://shoal@127.0.0.1:${line.port}${url.pathname}`
    const registry = await startHere({ databaseUrl, statementTimeoutMs: 1_000 })
    const token = await registry.register('ana')
    line.stall()
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => registry.get('/readyz', { token })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    expect((await registry.get('/healthz', { token })).status).toBe(200)
    await line.restore()
    await expect.poll(async () => (await registry.get('/readyz')).status).toBe(200)
  },
)

const tracesOfProxies = [
  { forwarded: 'for=127.0.0.1' },
  { 'x-forwarded-for': '127.0.0.1' },
  { 'x-forwarded-proto': 'https' },
  { 'x-forwarded-host': 'localhost' },
  { 'x-real-ip': '127.0.0.1' },
  { via: '1.1 proxy' },
]

describeApi('metrics', { on: ['SQLite'] }, (start) => {
  test('are available to this machine, but not through a proxy on it', async () => {
    const registry = await start()
    expect((await registry.get('/metrics')).text).toContain('shoal_http_request_seconds')
    for (const headers of tracesOfProxies) {
      const { status, body } = await registry.get('/metrics', { headers })
      expect([headers, status]).toEqual([headers, 403])
      expect(body).toEqual({ detail: expect.any(String) })
    }
  })

  test('are available to administrators and with the metrics token, which gives no other access', async () => {
    const registry = await start({ metricsToken, trustProxy: 1 })
    const admin = await registry.register('ana')
    const member = await registry.register('bob')
    const headers = { 'x-forwarded-for': '203.0.113.5' }
    const statusFor = async (token: string, path = '/metrics') =>
      (await registry.get(path, { token, headers })).status
    expect(await statusFor(admin)).toBe(200)
    expect(await statusFor(member)).toBe(403)
    expect(await statusFor(metricsToken)).toBe(200)
    expect(await statusFor(`${metricsToken}x`)).toBe(401)
    expect(await statusFor(metricsToken.replace('a', 'b'))).toBe(401)
    expect(await statusFor(metricsToken, '/v1/models')).toBe(401)
  })

  test('count the bytes of model files that were sent', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const file = await publish(registry, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
    const { body } = await registry.get(`/v1/files/tide/download/${file.id}`)
    const { direct_url }: Download = body
    await registry.bytes(direct_url)
    await registry.bytes(direct_url, { range: 'bytes=0-99' })
    const sent = async () =>
      /^shoal_blob_bytes_sent_total (\d+)$/m.exec((await registry.get('/metrics')).text)?.[1]
    await expect.poll(sent).toBe(String(file.file_size_bytes + 100))
  })

  test('have no token by default', async () => {
    const registry = await start()
    const headers = { via: '1.1 proxy', authorization: 'Bearer undefined' }
    expect((await registry.get('/metrics', { headers })).status).toBe(401)
  })
})

test("behind a trusted proxy, the client's address decides who may read the metrics", async () => {
  const registry = await startHere({ trustProxy: 1 })
  const statusFor = async (headers: Record<string, string>) =>
    (await registry.get('/metrics', { headers })).status
  expect(await statusFor({ 'x-forwarded-for': '127.0.0.1', via: '1.1 proxy' })).toBe(200)
  expect(await statusFor({ 'x-forwarded-for': '203.0.113.5' })).toBe(403)
  expect(await statusFor({ 'x-forwarded-for': '127.0.0.1, 203.0.113.5' })).toBe(403)
  expect(await statusFor({ via: '1.1 proxy' })).toBe(403)
})

test.skipIf(!ownAddress)(
  'other machines cannot pose as this machine with a forged header, even if a proxy is trusted',
  async () => {
    for (const trustProxy of [false, 1] as const) {
      const host = ownAddress ?? ''
      const registry = await startHere({ host: '0.0.0.0', allowedHosts: [host], trustProxy })
      for (const headers of [{}, { 'x-forwarded-for': '127.0.0.1' }]) {
        const { status } = await registry.get(`http://${host}:${registry.port}/metrics`, {
          headers,
        })
        expect([trustProxy, headers, status]).toEqual([trustProxy, headers, 403])
      }
    }
  },
)

test('the first request through an untrusted proxy logs a warning', async () => {
  const folder = temporaryFolder()
  for (const trustProxy of [false, 1] as const) {
    const file = join(folder, `${trustProxy}.log`)
    const registry = await startTestRegistry({ trustProxy, log: { file } })
    await registry.get('/v1/models')
    for (const headers of tracesOfProxies) await registry.get('/v1/models', { headers })
    await registry.close()
    const warnings = (await readFile(file, 'utf8')).match(/SHOAL_TRUST_PROXY=on/g) ?? []
    expect([trustProxy, warnings.length]).toEqual([trustProxy, trustProxy ? 0 : 1])
  }
})

test('a metrics token that is too short or contains spaces is refused', () => {
  const tokenIn = (SHOAL_METRICS_TOKEN: string) => readRegistryConfig({ SHOAL_METRICS_TOKEN })
  expect(tokenIn('').metricsToken).toBeUndefined()
  expect(tokenIn(metricsToken).metricsToken).toBe(metricsToken)
  for (const text of ['short', 'has spaces in the middle']) {
    expect(() => tokenIn(text)).toThrow(
      'SHOAL_METRICS_TOKEN must be at least 16 visible ASCII characters',
    )
  }
})

describeApi('the status for administrators', { on: everywhere }, (start, oneNodeTest) => {
  test('counts bytes, uploads and failed files', async () => {
    const registry = await start()
    const admin = await registry.register('ana')
    const ben = await registry.register('ben')
    const status = async (token?: string) => registry.get('/v1/admin/status', { token })
    expect((await status()).status).toBe(401)
    expect((await status(ben)).status).toBe(403)
    const bytes = smallGguf(1)
    await publish(registry, ben, { name: 'tide' }, 'tide.gguf', bytes)
    await publish(registry, ben, { name: 'reef' }, 'reef.gguf', bytes)
    const body = manifestFor('other.gguf', smallGguf(2))
    expect((await registry.post('/v1/models/tide/files', { token: ben, body })).status).toBe(201)
    expect((await status(admin)).body).toEqual({
      database: expect.stringMatching(/^(sqlite|postgres)$/),
      store: {
        kind: expect.stringMatching(/^(disk|s3)$/),
        is_available: true,
        stored_bytes: bytes.length,
        free_bytes: expect.toSatisfy((free: number | null) => free === null || free > 0),
        reserve_bytes: expect.toSatisfy((kept: number | null) => kept === null || kept > 0),
        awaited_bytes: expect.toSatisfy((left: number | null) => left === null || left >= 0),
      },
      processing: { waiting: 0, running: 0, oldest_at: null },
      uploads: 1,
      failed_files: 0,
    })
  })

  oneNodeTest('reports that the store is not available', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'shoal-registry-'))
    const registry = await start({ dataDirectory })
    const token = await registry.register('ana')
    const objects = join(dataDirectory, 'store', 'objects')
    await rename(objects, `${objects}-away`)
    const { status, body } = await registry.get('/v1/admin/status', { token })
    const { is_available, free_bytes } = (body as RegistryStatus).store
    expect([status, is_available, free_bytes]).toEqual([200, false, null])
    await rename(`${objects}-away`, objects)
  })
})
