import { join } from 'node:path'
import type { Download, ModelFile } from '@shoal/protocol'
import { formatPath, pages } from '@shoal/protocol/pages'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasPostgres } from '../../../../testing/servers.ts'
import { slowTest } from '../../../../testing/slow-test.ts'
import { breakableLine } from '../testing/breakable-line.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { rawAnnounce } from '../testing/raw-announce.ts'
import { makeDatabase, startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const asBrowser = { accept: 'text/html,application/xhtml+xml' }
let registry: TestRegistry
let ana: string

beforeAll(async () => {
  registry = await startTestRegistry()
  ana = await registry.register('ana')
  const tide = {
    name: 'tide',
    display_name: 'Tide <7B>',
    description: 'Knows "seas" & </script><script>alert(1)</script>',
    license: 'mit',
    tags: ['ocean'],
  }
  await publish(registry, ana, tide, 'tide.gguf', smallGguf(1))
  await publish(registry, ana, { name: 'secret-reef', is_public: false }, 'reef.gguf', smallGguf(2))
})
afterAll(() => registry.close())

const page = (path: string, headers: Record<string, string> = {}) =>
  registry.get(registry.url + path, { headers: { ...asBrowser, ...headers } })

const nothingHere = 'Page not found'

const extractText = (html: string) =>
  html
    .replace(/<script[^>]*>.*?<\/script>/gs, '')
    .replace(/<\/?span[^>]*>/g, '') // within words
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

describe('a server-rendered page', () => {
  test('of the list contains the models and metadata about the page', async () => {
    const { status, text } = await page('/')
    expect(status).toBe(200)
    expect(extractText(text)).toContain('1 model')
    expect(extractText(text)).toContain('Tide &lt;7B&gt;')
    expect(text).toContain('<title>shoal</title>')
    expect(text).toContain(`<link rel="canonical" href="http://localhost:${registry.port}/">`)
    expect(text).toContain('type="application/atom+xml" href="/feed.atom"')
  })

  test('is served only at the base URL; requests under another local hostname are redirected', async () => {
    const path = '/m/tide?tab=files'
    const { status, headers } = await fetch(`http://127.0.0.1:${registry.port}${path}&junk=1`, {
      headers: asBrowser,
      redirect: 'manual',
    })
    expect(status).toBe(307)
    expect(headers.get('location')).toBe(`http://localhost:${registry.port}${path}`)
  })

  test.each(Object.entries(pages))('%s is found at its address', async (name, address) => {
    const path = formatPath(address, { name: 'tide', username: 'ana', section: 'keys' })
    // This request does not explicitly accept HTML, so an unknown address would return a JSON error, and `/install`
    // returns a script.
    const { status, headers, text } = await page(path, name === 'install' ? {} : { accept: '*/*' })
    expect([path, status]).toEqual([path, 200])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(extractText(text)).not.toContain(nothingHere)
  })

  test('of an unknown address is a 404 page', async () => {
    const { status, text } = await page('/nothing')
    expect(status).toBe(404)
    expect(extractText(text)).toContain(nothingHere)
  })

  test('does not contain unknown URL parameters', async () => {
    for (const path of ['/', '/m/tide', '/u/ana', '/login', '/nothing']) {
      const { text } = await page(`${path}?q=tide&jetsam=flotsam`)
      expect([path, /jetsam|flotsam/.test(text)]).toEqual([path, false])
    }
  })

  test('of a search contains the results, and the query in the search box', async () => {
    const { text } = await page('/?q=ocean')
    expect(extractText(text)).toContain('1 model for “ocean”')
    expect(text).toMatch(/<input[^>]* value="ocean"/)
    expect(text).toContain('<meta name="robots" content="noindex">')
    expect(extractText((await page('/?q=desert')).text)).toContain('No models found')
  })

  test('of a model contains its files, metadata and a picture for link previews', async () => {
    const { text } = await page('/m/tide?tab=files')
    expect(extractText(text)).toContain('Choose a file')
    expect(text).toContain('<title>Tide &lt;7B&gt; · shoal</title>')
    expect(text).toContain('<meta property="og:title" content="Tide &lt;7B&gt;">')
    const [, image = ''] = /property="og:image" content="([^"]+)"/.exec(text) ?? []
    const picture = await registry.bytes(image)
    expect(picture.bytes.subarray(1, 4).toString()).toBe('PNG')
    const earlier = await registry.bytes(image.replace(/[^/]+$/, 'm/tide/school.png')) // the address in version 0.1
    expect(earlier.bytes.equals(picture.bytes)).toBe(true)
  })

  test('contains commands that use this registry wherever they are run', async () => {
    const here = `localhost:${registry.port}`
    expect(extractText((await page('/m/tide')).text)).toContain(`shoal run ${here}/tide:F32`)
    expect(extractText((await page('/chat')).text)).toContain(`shoal serve --registry ${here}`)
    const elsewhere = await startTestRegistry({ baseUrl: 'https://models.example.org' })
    onTestFinished(() => elsewhere.close())
    const { text } = await elsewhere.get('/', { headers: asBrowser })
    expect(extractText(text)).toContain('--name my-model --registry models.example.org')
  })

  test('links each file to the daemon of the visitor, and to the installer', async () => {
    const { text } = await page('/m/tide?tab=files')
    const [link = ''] = /<a href="[^"]+#run=[^"]*"/.exec(text) ?? []
    const target = encodeURIComponent(`http://localhost:${registry.port}/tide:F32`)
    expect(link).toBe(`<a href="http://localhost:11434/#run=${target}"`)
    expect(text).toMatch(/<a [^>]*href="\/install"[^>]*>Install shoal from this registry</)
    const own = await page('/m/tide', { cookie: 'daemon=http://gpubox:11500' })
    expect(own.text).toContain(`href="http://gpubox:11500/#run=${target}"`)
  })

  test('runs no scripts from model fields', async () => {
    const { text } = await page('/m/tide')
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('\\u003c/script>')
    const [, json = ''] =
      /<script id="boot" type="application\/json">(.*?)<\/script>/s.exec(text) ?? []
    expect(JSON.parse(json).length).toBeGreaterThan(1)
  })

  test('allows no resources from other origins', async () => {
    const { headers } = await page('/')
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'self'; img-src 'self';")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const withImages = await page('/m/tide?images=1')
    expect(withImages.headers.get('content-security-policy')).toContain(
      "img-src 'self' https: http:",
    )
  })

  test('shows a private model only to its owner', async () => {
    expect((await page('/m/secret-reef')).status).toBe(404)
    expect((await page('/')).text).not.toContain('secret-reef')
    const { headers } = await registry.post('/v1/auth/login', {
      body: { username: 'ana', password: 'password of ana' },
      headers: { origin: `http://localhost:${registry.port}` },
    })
    const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? []
    const own = await page('/m/secret-reef', { cookie })
    expect(own.status).toBe(200)
    expect(extractText(own.text)).toContain('Private')
    expect(extractText(own.text)).not.toContain('Sign in')
  })

  test('of the administration is a 404 page for users who are not administrators', async () => {
    await registry.register('ben')
    const cookieOf = async (username: string) => {
      const { headers } = await registry.post('/v1/auth/login', {
        body: { username, password: `password of ${username}` },
        headers: { origin: registry.url },
      })
      return headers.get('set-cookie')?.split(';')[0] ?? ''
    }
    const { status, text } = await page('/admin', { cookie: await cookieOf('ben') })
    expect(status).toBe(404)
    expect(extractText(text)).toContain(nothingHere)
    expect((await page('/admin', { cookie: await cookieOf('ana') })).status).toBe(200)
  })

  test('of a missing resource is HTML for browsers and JSON for programs', async () => {
    const { status, text } = await page('/nowhere')
    expect(status).toBe(404)
    expect(extractText(text)).toContain('Page not found')
    const plain = await registry.get('/nowhere')
    expect([plain.status, plain.body]).toEqual([404, { detail: 'no such endpoint: GET /nowhere' }])
    expect((await page('/v1/nowhere', { accept: 'application/json' })).body).toHaveProperty(
      'detail',
    )
  })

  test('of a missing model is a 404 page', async () => {
    const { status, text } = await page('/m/tidd')
    expect(status).toBe(404)
    expect(extractText(text)).toContain('Model not found')
  })

  test('of a renamed model is found by its former name: browsers are redirected', async () => {
    await registry.post('/v1/models', { token: ana, body: { name: 'ebb' } })
    expect((await page('/m/ebb')).status).toBe(200)
    await registry.call('PATCH', '/v1/models/ebb', { token: ana, body: { name: 'flood' } })
    for (const rest of ['', '?tab=files', '/edit']) {
      const { status, headers } = await page(`/m/ebb${rest}`)
      expect([status, headers.get('location')]).toEqual([301, `/m/flood${rest}`])
      expect(headers.get('cache-control')).toBe('private, no-cache') // another model may take the name
    }
    expect((await page('/m/flood')).status).toBe(200)
    await registry.post('/v1/models', { token: ana, body: { name: 'ebb' } })
    expect((await page('/m/ebb')).status).toBe(200)
    await registry.call('PATCH', '/v1/models/ebb', { token: ana, body: { is_public: false } })
    await registry.call('PATCH', '/v1/models/ebb', { token: ana, body: { name: 'spring' } })
    expect((await page('/m/ebb')).status).toBe(404)
  })

  test('has the chosen theme', async () => {
    expect((await page('/', { cookie: 'theme=dark' })).text).toContain(
      '<html lang="en" data-theme="dark" ',
    )
    expect((await page('/', { cookie: 'theme="><script>' })).text).not.toMatch(
      /<html[^>]*data-theme/,
    )
  })

  test('is revalidated with its ETag, but its assets never are', async () => {
    const { headers, text } = await page('/login')
    const etag = headers.get('etag') ?? ''
    expect((await page('/login', { 'if-none-match': etag })).status).toBe(304)
    const [script = ''] = /\/assets\/[\w-]+\.js/.exec(text) ?? []
    const asset = await registry.get(script, { headers: { 'accept-encoding': 'br' } })
    expect(asset.status).toBe(200)
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-encoding')).toBe('br')
    expect((await registry.get('/assets/../package.json')).status).toBe(404)
  })
})

slowTest(
  'a page whose card exceeds a limit says so, and is not cached, because the card is rendered again later',
  async () => {
    const readme = '*a_ '.repeat(100_000)
    await registry.post('/v1/models', { token: ana, body: { name: 'endless', readme } })
    const readRetrySeconds = async () =>
      (await registry.get('/v1/models/endless/card')).headers.get('retry-after')
    await expect.poll(readRetrySeconds, { timeout: 120_000 }).toBe('600') // '5' until the limit is exceeded
    for (let time = 0; time < 2; time += 1) {
      const { status, text, headers } = await page('/m/endless')
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(headers.get('retry-after')).toBe('600')
      expect(extractText(text)).toContain(
        'This card could not be formatted. Its Markdown source is shown below.',
      )
    }
  },
  180_000,
)

test('a page that was sent before its card was rendered is not cached', async () => {
  const slow = '*b_ '.repeat(100_000) // rendering takes all of the CPU time that a card is allowed
  await registry.post('/v1/models', { token: ana, body: { name: 'slow', readme: slow } })
  await registry.post('/v1/models', { token: ana, body: { name: 'late', readme: 'A *tide*.' } })
  const earlier = registry.get('/v1/models/slow/card')
  const { status, text } = await page('/m/late')
  expect([status, text.includes('<em>tide</em>')]).toEqual([200, false])
  await earlier
  const hasCard = async () => (await page('/m/late')).text.includes('<em>tide</em>')
  await expect.poll(hasCard, { timeout: 120_000 }).toBe(true)
}, 180_000)

describe('a page with a link to the local API', () => {
  const elsewhere = { 'x-forwarded-for': '203.0.113.9' }
  const links = async (headers = {}) =>
    /href="([^"]*)" class="ctl-ink"/.exec((await page('/chat', headers)).text)?.[1]
  afterAll(() => registry.setLocalApi('http://localhost:11434'))

  test('links to the API’s default address if no other address is known', async () => {
    expect(await links()).toBe('http://localhost:11434/')
  })

  test('links to the local API for visitors on the registry’s machine, and to their own API for others', async () => {
    registry.setLocalApi('http://localhost:11500')
    expect(await links()).toBe('http://localhost:11500/')
    expect(await links(elsewhere)).toBe('http://localhost:11434/')
    expect(await links({ cookie: 'daemon=http://gpu:8080' })).toBe('http://gpu:8080/')
    expect((await page('/')).text).toContain(' data-daemon="http://localhost:11500"')
    expect((await page('/', elsewhere)).text).not.toContain('data-daemon')
  })

  test('offers no API to visitors on the registry’s machine if no API is running there', async () => {
    registry.setLocalApi('')
    const { text } = await page('/chat')
    expect(extractText(text)).not.toContain('Open the chat')
    expect(extractText(text)).toContain('could not start a daemon on this machine')
    expect(extractText((await page('/m/tide')).text)).not.toContain('Python')
    expect(await links(elsewhere)).toBe('http://localhost:11434/')
    expect(extractText((await page('/m/tide', elsewhere)).text)).toContain('Python')
  })
})

describe('a page for anonymous visitors', () => {
  const readSize = async () =>
    Number(/^shoal_response_cache_entries (\d+)$/m.exec((await registry.get('/metrics')).text)?.[1])
  const write = async (name: string) =>
    registry.post('/v1/models', { token: ana, body: { name, display_name: name } })

  test('is served from the cache until the next write', async () => {
    await write('first-wave')
    const first = await page('/?sort=likes')
    const size = await readSize()
    const again = await page('/?sort=likes&junk=1')
    expect(await readSize()).toBe(size)
    expect(again.text).toBe(first.text)
    const lasting = (headers: Headers) =>
      [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    expect(lasting(again.headers)).toEqual(lasting(first.headers))
    const ifNoneMatch = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await page('/?sort=likes', ifNoneMatch)).status).toBe(304)

    await write('second-wave')
    const changed = await page('/?sort=likes', ifNoneMatch)
    expect(changed.status).toBe(200)
    expect(extractText(changed.text)).toContain('second-wave')
  })

  test('is not sent to signed-in users, and their pages are not sent to anonymous visitors', async () => {
    const { headers } = await registry.post('/v1/auth/login', {
      headers: { origin: registry.url },
      body: { username: 'ana', password: 'password of ana' },
    })
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    const status = async (more = {}) => (await page('/m/secret-reef', more)).status
    expect([await status(), await status({ cookie }), await status()]).toEqual([404, 200, 404])
    const strangers = (await page('/')).text
    expect(extractText((await page('/', { cookie })).text)).toContain('secret-reef')
    expect((await page('/')).text).toBe(strangers)
  })

  test('shows the current number of seeders', async () => {
    const { body: files } = (await registry.get('/v1/models/tide/files')) as { body: never }
    const [{ model_id, id }] = files as [ModelFile]
    const { body: download } = await registry.get(`/v1/files/${model_id}/download/${id}`)
    const announce = { info_hash: (download as Download).torrent_info_hash, left: 0 }
    const hasSeeders = async () =>
      /\d+ peer/.test(extractText((await page('/m/tide?tab=files')).text))
    expect(await hasSeeders()).toBe(false)
    await rawAnnounce(registry, announce)
    expect(await hasSeeders()).toBe(true)
    await rawAnnounce(registry, { ...announce, event: 'stopped' })
    expect(await hasSeeders()).toBe(false)
  })
})

test('on a members-only registry, anonymous visitors get pages without content', async () => {
  const closed = await startTestRegistry({ isAnonymousReadAllowed: false })
  try {
    const token = await closed.register('ana')
    await publish(closed, token, { name: 'tide' }, 'tide.gguf', smallGguf(1))
    const get = (path: string) => closed.get(closed.url + path, { headers: asBrowser })
    expect((await get('/login')).status).toBe(200)
    const { status, text } = await get('/')
    expect(status).toBe(401)
    expect(text).not.toContain('tide')
    expect((await get('/feed.atom')).status).toBe(401)
    expect((await get('/sitemap.xml')).text).not.toContain('tide')
    expect((await get('/robots.txt')).text).toContain('Disallow: /\n')
  } finally {
    await closed.close()
  }
})

test.skipIf(!hasPostgres)(
  'a page returns 503 with Retry-After while the database (PostgreSQL) is not available',
  async () => {
    const url = new URL(await makeDatabase())
    const line = await breakableLine(join(decodeURIComponent(url.hostname), '.s.PGSQL.5432'))
    onTestFinished(() => line.cut())
    const databaseUrl = `postgres://shoal@127.0.0.1:${line.port}${url.pathname}`
    const cutOff = await startTestRegistry({ databaseUrl })
    onTestFinished(() => cutOff.close())
    await line.cut()
    for (const path of ['/', '/m/tide', '/u/ana']) {
      const { status, headers } = await cutOff.get(cutOff.url + path, { headers: asBrowser })
      expect([path, status]).toEqual([path, 503])
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(headers.get('cache-control')).toBe('no-store')
    }
  },
)
