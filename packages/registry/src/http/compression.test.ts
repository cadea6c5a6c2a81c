import { chooseEncoding, minCompressedBytes } from '@shoal/server/cache'
import { beforeAll, describe, expect, test } from 'vitest'
import { encodedRequest } from '../testing/encoded-request.ts'
import { getCard } from '../testing/get-card.ts'
import { makeFakeManifest, publish, smallGguf } from '../testing/publish.ts'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate, zstd', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZip;q=1.0, BR;q=0.5', 'gzip'],
  ['br ; q=0, gzip ; q=0.001', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*;q=0', undefined],
  ['gzip;q=nonsense', undefined],
  ['brotli, xgzip', undefined],
])('Accept-Encoding %j chooses %s', (header, expected) => {
  expect(chooseEncoding(header)).toBe(expected)
})

describeApi('a response', { on: ['SQLite'] }, (start) => {
  let registry: TestRegistry
  let ana: string
  const readme = `# Tide\n\n${'The *tide* rises, and the tide falls.\n\n'.repeat(100)}`

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    for (let at = 0; at < 10; at += 1) {
      const name = `tide-${at}`
      await registry.post('/v1/models', { token: ana, body: { name, readme } })
    }
    await publish(registry, ana, { name: 'reef' }, 'reef.gguf', smallGguf(1, 10_000_000))
    // Pages say how old a model is, which must not change during a test.
    const { db } = await registry.connect()
    const longAgo = '2020-01-01T00:00:00.000Z'
    await db.updateTable('model').set({ created_at: longAgo, updated_at: longAgo }).execute()
    await getCard(registry, '/v1/models/tide-1/card') // so that the page contains the card from the start
  })

  describe.each([
    ['a list', '/v1/models'],
    ['a model', '/v1/models/tide-1'],
    ['a card', '/v1/models/tide-1/card'],
    ['a page', '/m/tide-1'],
    ['a feed', '/feed.atom'],
    ['a sitemap', '/sitemap.xml'],
    ['the description of the API', '/openapi.json'],
  ])('with %s', (_, path) => {
    const ask = (encoding: string, headers = {}) =>
      encodedRequest(registry, path, encoding, headers)

    test('is compressed, with a different ETag for each encoding', async () => {
      const plain = await ask('identity')
      expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined])
      const etags = new Set([plain.headers.etag])
      for (const encoding of ['br', 'gzip']) {
        for (let time = 0; time < 3; time += 1) {
          const { headers, text, length } = await ask(encoding)
          expect(headers['content-encoding']).toBe(encoding)
          expect(text).toBe(plain.text)
          expect(length).toBeLessThan(plain.length * 0.6)
          expect(Number(headers['content-length'])).toBe(length)
          etags.add(headers.etag)
        }
      }
      expect(etags.size).toBe(3)
    })

    test.each(['identity', 'br', 'gzip'])('is revalidated with %s', async (encoding) => {
      const { headers } = await ask(encoding)
      for (let time = 0; time < 2; time += 1) {
        const known = await ask(encoding, { 'if-none-match': headers.etag ?? '' })
        expect([known.status, known.length]).toEqual([304, 0])
        expect(known.headers.etag).toBe(headers.etag)
        expect(known.headers.vary).toBe(headers.vary)
        expect(known.headers).not.toHaveProperty('content-encoding')
        expect(known.headers).not.toHaveProperty('content-length')
      }
      const other = encoding === 'br' ? 'gzip' : 'br'
      expect((await ask(other, { 'if-none-match': headers.etag ?? '' })).status).toBe(200)
    })

    test('lists Accept-Encoding once in Vary, whatever the encoding', async () => {
      for (const encoding of ['identity', 'br', 'gzip', 'br']) {
        const { vary } = (await ask(encoding)).headers
        expect(vary?.match(/Accept-Encoding/g)).toHaveLength(1)
      }
    })

    test('to a HEAD request has the same headers', async () => {
      for (const encoding of ['identity', 'br', 'gzip']) {
        const { headers } = await ask(encoding)
        const head = await ask(encoding, { method: 'HEAD' })
        expect(head.length).toBe(0)
        for (const name of ['content-encoding', 'content-length', 'etag', 'vary']) {
          expect.soft([name, encoding, head.headers[name]]).toEqual([name, encoding, headers[name]])
        }
      }
    })
  })

  test('that fits into a packet is not compressed', async () => {
    const { headers, length } = await encodedRequest(registry, '/v1/models?limit=1&q=reef', 'br')
    expect(length).toBeLessThan(minCompressedBytes)
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('to a signed-in user is compressed, and not sent to others', async () => {
    const secret = { name: 'secret', is_public: false, readme }
    await registry.post('/v1/models', { token: ana, body: secret })
    const authorization = `Bearer ${ana}`
    const mine = await encodedRequest(registry, '/v1/models/secret', 'br', { authorization })
    expect([mine.status, mine.headers['content-encoding']]).toEqual([200, 'br'])
    const { etag = '' } = mine.headers
    const theirs = { 'if-none-match': etag }
    expect((await encodedRequest(registry, '/v1/models/secret', 'br', theirs)).status).toBe(404)
  })

  test('that contains a token, a key or a presigned URL is never compressed', async () => {
    const encodings = { 'accept-encoding': 'br, gzip' }
    const body = { username: 'ana', password: 'password of ana' }
    const signedIn = await registry.post('/v1/auth/login', { body, headers: encodings })
    const key = { name: 'k'.repeat(60) }
    const made = await registry.post('/v1/api-keys', { token: ana, body: key, headers: encodings })
    const manifest = makeFakeManifest('big.gguf', 1024 ** 3)
    const files = '/v1/models/tide-1/files'
    const started = await registry.post(files, { token: ana, body: manifest, headers: encodings })
    for (const { status, headers } of [signedIn, made, started]) {
      expect([status < 300, headers.get('content-encoding')]).toEqual([true, null])
    }
    const { id } = started.body as { id: string }
    const { body: reef }: { body: { id: string }[] } = await registry.get('/v1/models/reef/files')
    const authorization = `Bearer ${ana}`
    for (const path of [
      `${files}/${id}/upload`,
      '/v1/auth/me',
      '/v1/auth/sessions',
      '/v1/api-keys',
      `/v1/files/reef/download/${reef[0]?.id}`,
      `/v1/files/reef/torrent/${reef[0]?.id}`,
    ]) {
      for (const headers of [{ authorization }, {}, {}, {}]) {
        const answer = await encodedRequest(registry, path, 'br, gzip', headers)
        expect.soft([path, answer.headers['content-encoding']]).toEqual([path, undefined])
        expect.soft(answer.headers.vary ?? '').not.toContain('Accept-Encoding')
      }
    }
    const upload = await encodedRequest(registry, `${files}/${id}/upload`, 'br', { authorization })
    expect(upload.status).toBe(200)
    expect(upload.length).toBeGreaterThan(minCompressedBytes) // long enough to be compressed
  })

  test("with a model's bytes is never compressed", async () => {
    const { body }: { body: { id: string }[] } = await registry.get('/v1/models/reef/files')
    const download = await registry.get(`/v1/files/reef/download/${body[0]?.id}`)
    const { direct_url }: { direct_url: string } = download.body
    const { status, headers } = await encodedRequest(registry, direct_url, 'br, gzip')
    expect([status, headers['content-encoding']]).toEqual([200, undefined])
  })
})
