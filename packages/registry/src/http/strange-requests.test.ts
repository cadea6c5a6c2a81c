import type { StartedUpload } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { manifestFor, smallGguf } from '../testing/publish.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { describeApi, describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

const end = 'Connection: close\r\n\r\n'

describeOnEachDatabase('an unusual request', (start) => {
  let registry: TestRegistry
  let token: string

  beforeAll(async () => {
    registry = await start()
    token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tiny' } })
  })

  test('that is not valid HTTP, or has an invalid URL, gets an error in the usual format', async () => {
    const { port } = registry
    const host = `Host: localhost:${port}\r\n`
    const requests: [number, string][] = [
      [400, `GET /v1/models/%zz HTTP/1.1\r\n${host}${end}`],
      [400, `GET /v1/models/%ED%A0%80 HTTP/1.1\r\n${host}${end}`],
      [400, `NONSENSE /v1/models HTTP/1.1\r\n${host}${end}`],
      [400, `GET /v1/models HTTP/1.1\r\n${end}`],
      [400, `GET /healthz HTTP/1.1\r\n${end}`],
      [400, `GET /healthz HTTP/1.1\r\n${host}${host}${end}`],
      [400, `GET /v1/models HTTP/1.1\r\nHost: evil@localhost\r\n${end}`],
      [400, `GET http://evil.example/v1/models HTTP/1.1\r\n${host}${end}`],
      [400, `GET http://localhost@evil.example/v1/models HTTP/1.1\r\n${host}${end}`],
      [417, `GET /v1/models HTTP/1.1\r\n${host}Expect: a-miracle\r\n${end}`],
      [431, `GET /v1/models HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n${end}`],
    ]
    for (const [expected, request] of requests) {
      const { status, text } = await rawRequest(port, request)
      expect.soft(status, request.slice(0, 40)).toBe(expected)
      expect.soft(text.toLowerCase()).toContain('x-request-id: ')
      expect.soft(text.split('\r\n\r\n')[1]).toMatch(/\{"detail":"[^"]+"/)
    }
  })

  test('with an absolute URL is meant for the host in the URL, and one of HTTP/1.0 needs no Host', async () => {
    const { port } = registry
    const request = `GET http://localhost:${port}/v1/models?limit=1 HTTP/1.1\r\nHost: evil.example\r\n${end}`
    expect(await rawRequest(port, request)).toMatchObject({ status: 200 })
    expect(await rawRequest(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatchObject({ status: 200 })
  })

  test('with NUL or an unpaired surrogate gets an error that identifies the field, except in a search', async () => {
    const paths = ['/v1/models/a%00b', '/v1/users/%00', '/v1/models/tiny/files/%00']
    const filters = ['tag', 'owner', 'license', 'architecture', 'quantization']
    for (const path of [...paths, ...filters.map((name) => `/v1/models?${name}=%00`)]) {
      expect.soft((await registry.get(path)).status, path).toBe(400)
    }
    expect((await registry.get('/v1/models?q=%00')).body).toEqual([])

    for (const text of ['\0', '\ud800']) {
      for (const field of ['display_name', 'description', 'license', 'readme', 'architecture']) {
        const changes = { token, body: { [field]: `a${text}b` } }
        const { status, body } = await registry.call('PATCH', '/v1/models/tiny', changes)
        expect.soft(status, field).toBe(422)
        expect.soft(body).toMatchObject({ errors: [{ path: `/${field}` }] })
      }
      const tags = { token, body: { tags: [text] } }
      expect((await registry.call('PATCH', '/v1/models/tiny', tags)).status).toBe(422)
      const login = { body: { username: text, password: 'x' } }
      expect((await registry.post('/v1/auth/login', login)).status).toBe(422)
      const key = { token, body: { name: text } }
      expect((await registry.post('/v1/api-keys', key)).status).toBe(422)
    }
  })

  test('with JSON that is nested too deeply is refused, and the registry continues to work', async () => {
    const make = async (name: string, depth: number) => {
      const bytes = `{"name":"${name}","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
      const headers = { 'content-type': 'application/json' }
      const { status, text } = await registry.post('/v1/models', { token, headers, bytes })
      return [status, text] as const
    }
    const refusal = [400, '{"detail":"the body is nested more than 200 levels deep"}']
    expect(await make('tiny', 400_000)).toEqual(refusal)
    expect(await make('tiny', 201)).toEqual(refusal)
    expect(await make('nested', 198)).toMatchObject([201, expect.any(String)])
  })

  test('can have unknown members, which are ignored', async () => {
    const { body: before } = await registry.get('/v1/models/tiny', { token })
    const body = {
      likes: 999,
      downloads: 5000,
      owner: 'bob',
      created_at: '2001-01-01T00:00:00.000Z',
      visibility_version: 77,
      seq: 1,
      id: 'x',
      nonsense: 1,
    }
    const changed = await registry.call('PATCH', '/v1/models/tiny', { token, body })
    expect(changed.status).toBe(200)
    expect({ ...(changed.body as object), updated_at: '' }).toEqual({
      ...(before as object),
      updated_at: '',
    })
  })

  test('with a number that is too large for a database gets 400; the largest valid number works', async () => {
    const { body }: { body: StartedUpload } = await registry.post('/v1/models/tiny/files', {
      token,
      body: manifestFor('tiny.gguf', smallGguf(1)),
    })
    const counts = ['min_parameters', 'max_parameters', 'max_file_size_bytes', 'max_memory_bytes']
    const numbers = [
      ...['offset', ...counts].map((name) => `/v1/models?q=tiny&sort=relevance&${name}=`),
      ...['offset', ...counts].map((name) => `/v1/models?${name}=`),
      ...counts.map((name) => `/v1/facets?${name}=`),
      `/v1/models/tiny/files/${body.id}/upload?from=`,
    ]
    for (const path of numbers) {
      const largest = await registry.get(path + Number.MAX_SAFE_INTEGER, { token })
      expect.soft(largest.status, path).toBe(200)
      for (const number of ['9007199254740993', '9'.repeat(30), '1e300', '1e999', '-1', '0.5']) {
        const { status } = await registry.get(path + number, { token })
        expect.soft(status, path + number).toBe(400)
      }
    }
    for (const limit of ['/v1/models?limit=', `/v1/models/tiny/files/${body.id}/upload?limit=`]) {
      expect.soft((await registry.get(`${limit}${'9'.repeat(30)}`, { token })).status).toBe(400)
    }
  })

  test('with a body that the route does not need succeeds', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      for (const bytes of ['', '{']) {
        const headers = { 'content-type': type }
        const { status } = await registry.post('/v1/models/tiny/like', { token, headers, bytes })
        expect.soft(status, `${type} ${bytes}`).toBe(204)
      }
    }
    const headers = { 'content-type': 'text/plain' }
    const asText = await registry.post('/v1/models', { token, headers, bytes: '{"name":"b2"}' })
    expect(asText.status).toBe(415)
  })
})

describeApi('If-None-Match', { on: ['SQLite'] }, (start) => {
  test('supports lists, weak tags and *, and a 304 has no incorrect length', async () => {
    const registry = await start()
    await registry.post('/v1/models', { token: await registry.systemToken(), body: { name: 'aa' } })
    for (const path of ['/v1/models', '/v1/models/aa']) {
      const { headers: whole, text } = await registry.get(path)
      const etag = whole.get('etag') ?? ''
      for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
        for (const method of ['GET', 'HEAD', 'GET']) {
          const headers = { 'if-none-match': tags }
          const answer = await registry.call(method, path, { headers })
          expect.soft(answer.status, `${method} ${path} ${tags}`).toBe(304)
          const length = answer.headers.get('content-length')
          expect.soft([null, String(text.length)]).toContain(length)
          expect.soft(answer.headers.get('etag')).toBe(etag)
        }
      }
      const headers = { 'if-none-match': '"other"' }
      expect((await registry.get(path, { headers })).status).toBe(200)
    }
  })
})

describeApi('behind a proxy', { on: ['SQLite'] }, (start) => {
  test('rate limits use the address that the proxy saw, not the one that the client sends', async () => {
    const limits = { max: 3, windowSeconds: 60 }
    const rateLimits = { auth: limits, write: limits, read: limits, chunk: limits, tracker: limits }
    const registry = await start({ trustProxy: 1, rateLimits })
    const statuses: number[] = []
    for (let call = 0; call < 5; call += 1) {
      const headers = { 'x-forwarded-for': `10.9.9.${call}, 203.0.113.7` }
      statuses.push((await registry.get('/v1/models', { headers })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
  })
})

describeApi('the API document', { on: ['SQLite'] }, (start) => {
  test('requires no parameter that has a default, and does not list HEAD', async () => {
    const { body } = await (await start()).get('/openapi.json')
    const { paths } = body as {
      paths: Record<string, Record<string, { parameters?: Parameter[] }>>
    }
    const operations = Object.values(paths).flatMap((path) => Object.entries(path))
    expect(operations.filter(([method]) => method === 'head')).toEqual([])
    const queries = operations
      .flatMap(([, { parameters = [] }]) => parameters)
      .filter((parameter) => parameter.in === 'query')
    expect(queries.length).toBeGreaterThan(10)
    expect(queries.filter(({ required }) => required)).toEqual([])
  })
})

type Parameter = { in: string; required?: boolean }

describeApi('the expiry of an API key', { on: ['SQLite'] }, (start) => {
  test('must be a valid date with a time zone', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const statusFor = async (expires_at: string) =>
      (await registry.post('/v1/api-keys', { token, body: { name: 'k', expires_at } })).status
    expect(await statusFor('2127-02-28T00:00:00Z')).toBe(201)
    expect(await statusFor('2127-02-28T00:00:00.123+02:00')).toBe(201)
    for (const wrong of ['2127-02-30T00:00:00Z', '2127-01-01T00:00', '2127-01-01', 'soon']) {
      expect.soft(await statusFor(wrong), wrong).toBe(422)
    }
  })
})
