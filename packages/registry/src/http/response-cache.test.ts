import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import type { Download } from '@shoal/protocol'
import { errorHandler, makeApp } from '@shoal/server'
import { caching, createResponseCache, responseCaching } from '@shoal/server/cache'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import type { RegistryConfig } from '../config.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { makeDatabase, startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'
import { knownUrls } from './known-urls.ts'
import { makeMetrics } from './metrics.ts'

const batchSize = 50

async function metric(registry: TestRegistry, name: string): Promise<number> {
  const metrics = (await registry.get('/metrics')).text
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1])
}

async function askAll(registry: TestRegistry, paths: string[]) {
  for (let at = 0; at < paths.length; at += batchSize) {
    const some = paths.slice(at, at + batchSize).map((path) => registry.get(path))
    for (const { status } of await Promise.all(some)) expect(status).toBe(200)
  }
}

test('requests that differ only in unknown parameters share a cached response', async () => {
  const registry = await startWith({})
  const junk = 'x'.repeat(14_000)
  const paths = Array.from({ length: 50 }, (_, at) => `/v1/models?junk-${at}=${at}${junk}`)
  await askAll(registry, paths)
  expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
  expect(await metric(registry, 'shoal_response_cache_bytes')).toBeLessThan(10_000)
})

describe("responses to requests with many different parameters stay within the cache's", () => {
  const padding = 'y'.repeat(400)
  const paths = Array.from({ length: 60 }, (_, at) => `/v1/models?owner=${at}${padding}`)

  test('number of entries', async () => {
    const maxEntries = 40
    const registry = await startWith({ responseCache: { maxEntries, maxBytes: 1_000_000 } })
    await askAll(registry, paths)
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(maxEntries)
    const bytes = await metric(registry, 'shoal_response_cache_bytes')
    expect(bytes).toBeGreaterThan(maxEntries * 2 * padding.length) // keys count toward the limit
    const long = Array.from({ length: 50 }, (_, at) => `/v1/models?q=${at}${'z'.repeat(14_000)}`)
    await askAll(registry, long)
    expect(await metric(registry, 'shoal_response_cache_bytes')).toBeLessThanOrEqual(bytes)
  })

  test('number of bytes', async () => {
    const maxBytes = 60_000
    const registry = await startWith({ responseCache: { maxEntries: 1_000, maxBytes } })
    await askAll(registry, paths)
    const bytes = await metric(registry, 'shoal_response_cache_bytes')
    expect(bytes).toBeGreaterThan(maxBytes / 2)
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    expect(await metric(registry, 'shoal_response_cache_entries')).toBeLessThan(paths.length)
  })
})

test('the order of parameters and explicit defaults make no difference', async () => {
  const registry = await startTestRegistry()
  try {
    await askAll(registry, [
      '/v1/models',
      '/v1/models?limit=20&offset=0&sort=downloads&order=desc',
      '/v1/models?order=desc&sort=downloads&offset=0&limit=020',
    ])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
    await askAll(registry, ['/v1/models?tag=a&q=b', '/v1/models?q=b&tag=a'])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(2)
  } finally {
    await registry.close()
  }
})

test('a write drops every cached response', async () => {
  const registry = await startTestRegistry()
  try {
    const token = await registry.register('ana')
    await askAll(registry, ['/v1/models', '/v1/models?limit=1', '/v1/models?limit=2'])
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(3)
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    expect((await registry.get('/v1/models')).body).toHaveLength(1)
    expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
  } finally {
    await registry.close()
  }
})

const ample = { max: 1_000, windowSeconds: 60 }
const classes = { auth: ample, write: ample, read: ample, chunk: ample, tracker: ample }

async function startWith(settings: Partial<RegistryConfig>): Promise<TestRegistry> {
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.close())
  return registry
}

test('a cached response is rate-limited, logged, counted and given a request ID like any other', async () => {
  const log = temporaryLog()
  const read = { max: 3, windowSeconds: 60 }
  const registry = await startWith({ log, rateLimits: { ...classes, read } })
  const answers = []
  for (const id of ['first', 'second', 'third', 'fourth']) {
    answers.push(await registry.get('/v1/models', { headers: { 'x-request-id': id } }))
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  const [first, second, third] = answers.map(({ headers }) => Object.fromEntries(headers))
  expect(second).toEqual({
    ...first,
    date: expect.anything(),
    'x-request-id': 'second',
    'ratelimit-remaining': '1',
    'ratelimit-reset': expect.anything(),
  })
  expect(third?.['ratelimit-remaining']).toBe('0')
  expect(first?.['access-control-allow-origin']).toBe('*')
  const line = { reqId: 'third', path: '/v1/models', status: 200, ip: '127.0.0.1' }
  await expect.poll(log.lines).toContainEqual(expect.objectContaining(line))
  await registry.restart() // starts a new rate-limit window, so that the metrics can be read
  for (let at = 0; at < 2; at += 1) await registry.get('/v1/models')
  const counted = 'shoal_http_request_seconds_count{method="GET",route="/v1/models",status="200"}'
  expect((await registry.get('/metrics')).text).toContain(`${counted} 2`)
})

test("a cached response is sent only to anonymous callers that use the registry's own hostname", async () => {
  const registry = await startWith({})
  const token = await registry.register('ana')
  await registry.post('/v1/models', { token, body: { name: 'reef', is_public: false } })
  expect((await registry.get('/v1/models')).body).toEqual([])
  expect((await registry.get('/v1/models', { token })).body).toMatchObject([{ name: 'reef' }])
  expect((await registry.get('/v1/models')).body).toEqual([])
  expect((await registry.get('/v1/models', { token: 'shs_unknown' })).status).toBe(401)
  for (const hosts of [['evil.example'], ['localhost', 'evil.example']]) {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join('')
    const elsewhere = `GET /v1/models HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`
    expect((await rawRequest(registry.port, elsewhere)).status).toBe(400)
  }
})

test('behind a trusted proxy, a cached response is rate-limited by the address that the proxy reports', async () => {
  const log = temporaryLog()
  const read = { max: 2, windowSeconds: 60 }
  const registry = await startWith({ log, trustProxy: 1, rateLimits: { ...classes, read } })
  const statusFor = async (addresses: string) =>
    (await registry.get('/v1/models', { headers: { 'x-forwarded-for': addresses } })).status
  const statuses = []
  for (const address of ['203.0.113.1', '9.9.9.9, 203.0.113.1', '8.8.8.8,203.0.113.1']) {
    statuses.push(await statusFor(address))
  }
  expect(statuses).toEqual([200, 200, 429])
  expect(await statusFor('203.0.113.1, 203.0.113.2')).toBe(200)
  expect(await statusFor('203.0.113.2,')).toBe(200)
  expect(await statusFor('203.0.113.2, ')).toBe(429) // an empty address is ignored
  expect(await statusFor('2001:db8::1')).toBe(200)
  expect(await statusFor('2001:db8::2')).toBe(200)
  expect(await statusFor('2001:db8::3')).toBe(429) // the same /64
  const line = { ip: '203.0.113.2', path: '/v1/models', status: 200 }
  await expect.poll(log.lines).toContainEqual(expect.objectContaining(line))
})

test('a warning about a proxy that is not trusted is logged, even if the response is cached', async () => {
  const log = temporaryLog()
  const registry = await startWith({ log })
  await askAll(registry, ['/v1/models', '/v1/models'])
  await registry.get('/v1/models', { headers: { 'x-forwarded-for': '203.0.113.1' } })
  const msg = expect.stringContaining('a proxy is forwarding requests')
  await expect.poll(log.lines).toContainEqual(expect.objectContaining({ msg }))
})

test('while the registry shuts down, the connection is closed after a cached response', async () => {
  const registry = await startWith({})
  await askAll(registry, ['/v1/models', '/v1/models'])
  let accepted: Socket | undefined
  const onAccepted = (message: unknown) => {
    accepted = (message as { socket: Socket }).socket
  }
  subscribe('net.server.socket', onAccepted)
  onTestFinished(() => void unsubscribe('net.server.socket', onAccepted))
  const socket = connect(registry.port, '127.0.0.1')
  const answers = text(socket)
  const ask = 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
  socket.write(ask.slice(0, 20))
  await expect.poll(() => accepted?.bytesRead).toBe(20) // so that the connection is not idle
  // An unfinished request, because the server closes all connections once no request is in progress.
  const unfinished = connect(registry.port, '127.0.0.1')
  const begun = Promise.withResolvers<void>()
  const onBegun = () => begun.resolve()
  subscribe('http.server.request.start', onBegun)
  onTestFinished(() => void unsubscribe('http.server.request.start', onBegun))
  unfinished.write('POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n')
  await begun.promise
  const stopped = registry.stop()
  await expect.poll(() => isRefused(registry.port)).toBe(true)
  socket.write(ask.slice(20))
  expect(await answers).toMatch(/^HTTP\/1\.1 200 OK.*connection: close/is)
  unfinished.destroy()
  await stopped
})

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

test('a cached response can be revalidated by its ETag, and the 304 has no body or length', async () => {
  const registry = await startWith({})
  const [first, etag] = [await registry.get('/v1/models'), 'etag']
  const ifNoneMatch = { 'if-none-match': first.headers.get(etag) ?? '' }
  const { status, headers, ...rest } = await registry.get('/v1/models', { headers: ifNoneMatch })
  expect([status, rest.text]).toEqual([304, ''])
  for (const name of [etag, 'cache-control', 'vary', 'x-total-count']) {
    expect([name, headers.get(name)]).toEqual([name, first.headers.get(name)])
  }
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) {
    expect([name, headers.get(name)]).toEqual([name, null])
  }
  expect(headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
})

test('a response is cached even if the first request for it gets a 304', async () => {
  const registry = await startWith({})
  const [{ headers }, token] = [await registry.get('/v1/models'), await registry.register('ana')]
  await registry.post('/v1/models', { token, body: { name: 'tide' } })
  await registry.call('DELETE', '/v1/models/tide', { token }) // now the list is the same as before
  const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' }
  const revalidated = await registry.get('/v1/models', { headers: ifNoneMatch })
  expect([revalidated.status, await metric(registry, 'shoal_response_cache_entries')]).toEqual([
    304, 1,
  ])
  const { status, body } = await registry.get('/v1/models')
  expect([status, body]).toEqual([200, []])
})

test('feeds and sitemaps are cached until the next write', async () => {
  const registry = await startWith({})
  const token = await registry.register('ana')
  const paths = ['/feed.atom', '/u/ana/feed.atom', '/sitemap.xml', '/sitemap-1.xml']
  await askAll(registry, [...paths, ...paths])
  expect(await metric(registry, 'shoal_response_cache_entries')).toBe(paths.length)
  await registry.post('/v1/models', { token, body: { name: 'tide' } })
  for (const path of paths) expect((await registry.get(path)).text).toContain('/m/tide')
})

test('a cached torrent is sent with its filename', async () => {
  const registry = await startWith({})
  const token = await registry.register('ana')
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
  const readName = async () =>
    (await registry.get(`/v1/files/tide/torrent/${id}`)).headers.get('content-disposition')
  const names = [await readName(), await readName()]
  expect(names).toEqual([names[0], names[0]])
  expect(names[0]).toContain('tide.gguf.torrent')
  expect(await metric(registry, 'shoal_response_cache_entries')).toBe(1)
})

test('a redirect to a chunk is cached until the model changes, even if downloads are counted in the meantime', async () => {
  const registry = await startWith({})
  const token = await registry.register('ana')
  const bytes = smallGguf(1, 5_000_000)
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  const readDownload = async () => {
    const { status, body } = await registry.get(`/v1/files/tide/download/${id}`)
    expect(status).toBe(200)
    return body as Download
  }
  const paths = (await readDownload()).chunk_hashes.map(({ hash }) => `/v1/files/chunks/${hash}`)
  const ask = () => Promise.all(paths.map((path) => registry.get(path)))
  const first = await ask()
  expect(first.map(({ status }) => status)).toEqual(paths.map(() => 302))
  await readDownload()
  const second = await ask()
  expect(await metric(registry, 'shoal_presigned_cache_entries')).toBe(paths.length + 1)
  for (const [at, { status, headers }] of second.entries()) {
    const { date, 'x-request-id': _id, ...expected } = Object.fromEntries(first[at]?.headers ?? [])
    expect([status, Object.fromEntries(headers)]).toEqual([302, expect.objectContaining(expected)])
    expect((await registry.bytes(headers.get('location') ?? '')).status).toBe(200)
  }
  await registry.call('PATCH', '/v1/models/tide', { token, body: { is_public: false } })
  expect((await ask()).map(({ status }) => status)).toEqual(paths.map(() => 404))
})

test('a cached download is counted each time', async () => {
  const registry = await startWith({})
  const token = await registry.register('ana')
  const bytes = smallGguf(1, 5_000_000)
  const { id } = await publish(registry, token, { name: 'tide' }, 'tide.gguf', bytes)
  const path = `/v1/files/tide/download/${id}`
  const first = await registry.get(path)
  const others = await Promise.all(Array.from({ length: 20 }, () => registry.get(path)))
  for (const { status, body } of others) expect([status, body]).toEqual([200, first.body])
  expect((await registry.get('/v1/models/tide')).body).toMatchObject({ downloads: 21 })
})

test('a cached response is compressed once for each encoding, and a write drops the compressed responses', async () => {
  const metrics = makeMetrics({ droppedLogLines: () => 0 }).registry
  let databaseVersion = '1'
  const cache = createResponseCache({
    name: 'response',
    isAnonymous: () => true,
    databaseVersion: () => databaseVersion,
    limits: { maxEntries: 10, maxBytes: 1_000_000 },
    metrics,
  })
  const app = Fastify()
  onTestFinished(() => app.close())
  app.decorateRequest('route')
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions
    done()
  })
  await app.register(caching)
  await app.register(responseCaching, { cache })
  const sent = new Set<unknown>()
  app.addHook('onRoute', (route) => {
    const note = (_request: unknown, _reply: unknown, payload: unknown, done: () => void) => {
      sent.add(payload)
      done()
    }
    route.onSend = [route.onSend ?? [], note].flat()
  })
  app.get('/', { config: { isCompressible: true } }, async () =>
    `${databaseVersion} tide `.repeat(500),
  )
  const ask = (encoding: string) =>
    app.inject({ url: '/', headers: { 'accept-encoding': encoding } })
  const readSize = async () =>
    Number(/^shoal_response_cache_bytes (.*)$/m.exec(await metrics.metrics())?.[1])

  await ask('identity')
  const size = await readSize()
  sent.clear()
  await Promise.all(Array.from({ length: 20 }, () => ask('br')))
  expect(sent.size).toBe(1)
  expect(cache.findByUrl('/', 'br')?.representation.payload).toBe([...sent][0])
  expect(cache.findByUrl('/', 'gzip')).toBeUndefined()
  const compressedSize = await readSize()
  expect(compressedSize).toBeGreaterThan(size)
  await ask('br')
  expect(await readSize()).toBe(compressedSize)
  await ask('gzip')
  expect(cache.findByUrl('/', 'gzip')?.representation.headers).toContain('gzip')
  expect(await readSize()).toBeGreaterThan(compressedSize)
  databaseVersion = '2'
  expect(cache.findByUrl('/', 'br')).toBeUndefined()
  expect(brotliDecompressSync((await ask('br')).rawPayload).toString()).toMatch(/^2 tide/)
})

/** Starts an application with one route, which returns how often it has been called. */
async function countingApp(
  options: Partial<Parameters<typeof createResponseCache>[0]>,
  beforeCached?: () => Promise<void>,
) {
  const metrics = makeMetrics({ droppedLogLines: () => 0 })
  const cache = createResponseCache({
    name: 'response',
    isAnonymous: () => true,
    databaseVersion: () => '1',
    limits: { maxEntries: 10, maxBytes: 1_000_000 },
    metrics: metrics.registry,
    ...options,
  })
  const logged: unknown[] = []
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
  const note = (line: unknown) => logged.push(line)
  const log = {
    ...Object.fromEntries(levels.map((level) => [level, note])),
    child: () => log,
  } as unknown as FastifyBaseLogger
  const app = makeApp({
    ...{ log, metrics, makeBody: () => ({}), timeoutMessage: '', fastify: {} },
    handleError: errorHandler(() => ({ status: 503, body: {} })),
    shortcut: knownUrls({ caches: [cache], trustProxy: false }),
  })
  await app.register(responseCaching, { cache })
  let count = 0
  app.get('/', async (request) => {
    count += 1
    request.beforeCached = beforeCached
    return String(count)
  })
  const url = await app.listen()
  onTestFinished(() => app.close())
  const ask = async () => (await fetch(url)).text()
  return { app, ask, url, logged }
}

test('nothing is cached while writes may go unnoticed', async () => {
  let version: string | undefined
  const { ask } = await countingApp({ databaseVersion: () => version })
  expect([await ask(), await ask()]).toEqual(['1', '2'])
  version = '1'
  expect([await ask(), await ask()]).toEqual(['3', '3'])
  version = undefined
  expect([await ask(), await ask()]).toEqual(['4', '5'])
  version = '2'
  expect([await ask(), await ask()]).toEqual(['6', '6'])
})

test('a response is cached no longer than its maximum age', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { ask } = await countingApp({ maxAgeMs: 1_000 })
  expect([await ask(), await ask()]).toEqual(['1', '1'])
  vi.advanceTimersByTime(999)
  expect(await ask()).toBe('1')
  vi.advanceTimersByTime(1)
  expect([await ask(), await ask()]).toEqual(['2', '2'])
})

test('a cached response is not sent if the action that must precede it fails', async () => {
  let error: Error | undefined
  const { ask, url, logged } = await countingApp({}, async () => {
    if (error) throw error
  })
  expect([await ask(), await ask()]).toEqual(['1', '1'])
  error = Object.assign(new Error('not counted'), { statusCode: 503 })
  expect((await fetch(url)).status).toBe(503)
  error = undefined
  expect(await ask()).toBe('1')
  const statuses = () => logged.flatMap((line) => (line as { status?: number }).status ?? [])
  await expect.poll(statuses).toEqual([200, 200, 503, 200])
})

test('the connection is closed after a cached response that is counted during the shutdown', async () => {
  const counting = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { app, ask, url } = await countingApp({}, () => {
    begun.resolve()
    return counting.promise
  })
  await ask()
  const socket = connect(Number(new URL(url).port), new URL(url).hostname)
  const answer = text(socket)
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await begun.promise
  const closed = app.close()
  await expect.poll(() => app.server.listening).toBe(false)
  counting.resolve()
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK.*connection: close/is)
  await closed
})

test.skipIf(!hasPostgres)(
  'responses are cached on PostgreSQL too, until the next write',
  async () => {
    const registry = await startWith({ databaseUrl: await makeDatabase() })
    const countEntries = () => metric(registry, 'shoal_response_cache_entries')
    await expect
      .poll(async () => {
        await askAll(registry, ['/v1/models', `${registry.url}/`])
        return countEntries()
      })
      .toBeGreaterThan(1)
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const { body }: { body: { name: string }[] } = await registry.get('/v1/models')
    expect(body.map(({ name }) => name)).toEqual(['tide'])
  },
)
