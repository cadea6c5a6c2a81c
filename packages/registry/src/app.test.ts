import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { rawRequest } from './testing/raw-request.ts'
import { describeApi, type TestRegistry } from './testing/test-registry.ts'

describeApi('every response', { on: ['SQLite', 'three nodes'] }, (start, oneNodeTest) => {
  let registry: TestRegistry

  beforeAll(async () => {
    registry = await start()
  })

  test('to an unknown path is a 404 in the common error format', async () => {
    for (const path of ['/v1/nothing', '/nothing', '/v1/models/a/b/c/d']) {
      const { status, body } = await registry.get(path)
      expect(status).toBe(404)
      expect(body).toEqual({ detail: expect.any(String) })
    }
  })

  test("has a request ID: the caller's if the caller sent a valid one, and otherwise a new one", async () => {
    const named = await registry.get('/v1/models', { headers: { 'x-request-id': 'call-7' } })
    expect(named.headers.get('x-request-id')).toBe('call-7')
    const odd = await registry.get('/v1/models', { headers: { 'x-request-id': 'a b' } })
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('to a body with an unsupported media type or encoding is a 415, and to an oversized body a 413', async () => {
    const token = await registry.register('ana')
    const xml = await registry.post('/v1/models', {
      token,
      bytes: '<model/>',
      headers: { 'content-type': 'application/xml' },
    })
    expect(xml.status).toBe(415)
    const compressed = await registry.post('/v1/models', {
      token,
      bytes: new Uint8Array(gzipSync('{"name":"x1"}')),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
    expect(compressed.status).toBe(415)
    expect(compressed.headers.get('accept-encoding')).toBe('identity')
    const large = await registry.post('/v1/models', {
      token,
      body: { name: 'x1', readme: 'x'.repeat(1_100_000) },
    })
    expect(large.status).toBe(413)
    for (const { body } of [xml, compressed, large])
      expect(body).toEqual({ detail: expect.any(String), ...{} })
  })

  test('requires an allowed Host, except for the liveness probe', async () => {
    const registry = await start({ allowedHosts: ['models.lan'] })
    const { port } = registry
    const getStatus = async (host: string, path: string) =>
      (await rawRequest(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
        .status
    expect(await getStatus('evil.example', '/v1/models')).toBe(400)
    expect(await getStatus('evil.example', '/healthz')).toBe(200)
    expect(await getStatus('models.lan', '/v1/models')).toBe(200)
    expect(await getStatus(`localhost:${port}`, '/v1/models')).toBe(200)
    expect(await getStatus('[::1]:1', '/v1/models')).toBe(200)
    expect(await getStatus('localhost.evil.example', '/v1/models')).toBe(400)
  })

  test('has URLs built from the base URL, never from the Host header, and an HTTPS base URL is enforced', async () => {
    const registry = await start({
      baseUrl: 'https://models.example.org',
      allowedHosts: ['other.lan'],
    })
    await registry.post('/v1/models', { token: await registry.systemToken(), body: { name: 'aa' } })
    await registry.post('/v1/models', { token: await registry.systemToken(), body: { name: 'bb' } })
    const { headers } = await registry.get('/v1/models?limit=1')
    expect(headers.get('link')).toContain('<https://models.example.org/v1/models?')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    const cached = await registry.get('/v1/models?limit=1')
    expect(cached.headers.get('strict-transport-security')).toBe('max-age=31536000')
    const plain = await start()
    expect((await plain.get('/v1/models')).headers.has('strict-transport-security')).toBe(false)
  })

  test('is a 429 with Retry-After if the caller has exceeded the rate limit for that class of requests', async () => {
    const limit = { max: 3, windowSeconds: 60 }
    const rateLimits = {
      auth: limit,
      write: limit,
      read: limit,
      chunk: { max: 100, windowSeconds: 60 },
      tracker: limit,
    }
    const registry = await start({ rateLimits })
    const token = await registry.register('ana')
    const statuses: number[] = []
    for (let call = 0; call < 5; call += 1) {
      statuses.push((await registry.get('/v1/models')).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    const limited = await registry.get('/v1/models')
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(limited.headers.get('ratelimit-limit')).toBe('3')
    expect(limited.headers.get('ratelimit-remaining')).toBe('0')
    expect(limited.body).toMatchObject({ code: 'rate_limited', detail: expect.any(String) })
    expect((await registry.get('/v1/models', { token })).status).toBe(200)
    expect((await registry.get(`/v1/files/chunks/${'a'.repeat(64)}`)).status).toBe(404)
    const guesses: number[] = []
    for (let guess = 0; guess < 4; guess += 1) {
      const { status } = await registry.post('/v1/auth/login', {
        body: { username: 'ana', password: `guess ${guess}` },
      })
      guesses.push(status)
    }
    expect(guesses).toEqual([401, 401, 429, 429]) // registering the account was one of the three allowed requests
  })

  test('addresses in the same IPv6 /64 network share a rate limit, however they are written', async () => {
    const limit = { max: 2, windowSeconds: 60 }
    const rateLimits = { auth: limit, write: limit, read: limit, chunk: limit, tracker: limit }
    const registry = await start({ rateLimits, trustProxy: 1 })
    const statusFor = async (address: string) =>
      (await registry.get('/v1/models', { headers: { 'x-forwarded-for': address } })).status
    expect(await statusFor('2001:db8::1')).toBe(200)
    expect(await statusFor('2001:db8::2')).toBe(200)
    expect(await statusFor('2001:DB8:0:0:5::3')).toBe(429)
    expect(await statusFor('2001:db8:0:1::1')).toBe(200)
    expect(await statusFor('unknown')).toBe(200)
  })

  test('of a members-only registry requires a token, except for sign-in, health checks and the API description', async () => {
    const registry = await start({ isAnonymousReadAllowed: false })
    const token = await registry.register('ana')
    for (const path of [
      '/v1/models',
      '/v1/stats',
      '/v1/models/x',
      `/v1/files/chunks/${'a'.repeat(64)}`,
    ]) {
      expect((await registry.get(path)).status).toBe(401)
      expect((await registry.get(path, { token })).status).not.toBe(401)
    }
    const login = { username: 'ana', password: 'password of ana' }
    expect((await registry.post('/v1/auth/login', { body: login })).status).toBe(200)
    for (const path of [
      ...['/healthz', '/openapi.json', '/v1/registry'],
      ...['/docs/', '/docs/json', '/docs/static/swagger-ui.css', '/docs/static/logo.svg'],
    ]) {
      expect((await registry.get(path)).status, path).toBe(200)
    }
  })

  oneNodeTest('to a health probe reports the status, and metrics count requests', async () => {
    expect((await registry.get('/healthz')).body).toEqual({ status: 'ok' })
    expect((await registry.get('/readyz')).body).toEqual({ status: 'ready' })
    const metrics = await registry.get('/metrics')
    expect(metrics.text).toContain('shoal_http_request_seconds_count')
  })

  test('is described at /openapi.json and at /docs, and /docs loads nothing from other hosts', async () => {
    const { body }: { body: { openapi: string; paths: Record<string, object> } } =
      await registry.get('/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        '/v1/models',
        '/v1/models/{id}',
        '/v1/models/{id}/like',
        '/v1/models/{id}/files',
        '/v1/files/{model_id}/download/{file_id}',
        '/v1/files/chunks/{chunk_hash}',
        '/v1/auth/login',
        '/v1/api-keys',
      ]),
    )
    expect(body.paths['/v1/auth/login']).toMatchObject({ post: { security: [] } })
    const docs = await registry.get('/docs/')
    expect(docs.status).toBe(200)
    expect(docs.text).not.toMatch(/https?:\/\/(?!localhost|127\.)/)
    expect(docs.headers.get('content-security-policy')).toContain("default-src 'self'")
  })
})
