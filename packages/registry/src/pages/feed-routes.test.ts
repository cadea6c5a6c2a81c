import { beforeAll, expect, test } from 'vitest'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

/** Characters that XML does not allow (XML 1.0 §2.2). */
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

describeOnEachDatabase('feeds and sitemaps', (start) => {
  let registry: TestRegistry

  beforeAll(async () => {
    registry = await start()
    const token = await registry.register('ana')
    const models = [
      { name: 'tide', display_name: 'Tide & <Ebb>', tags: ['ocean'] },
      { name: 'storm' },
      { name: 'hidden', is_public: false },
    ]
    for (const body of models) await registry.post('/v1/models', { token, body })
  })

  test('list public models as XML, newest first', async () => {
    const { headers, text } = await registry.get('/feed.atom')
    expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
    const titles = [...text.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)
    expect(titles).toEqual(['shoal: new models', 'storm', 'Tide &amp; &lt;Ebb&gt;'])

    expect((await registry.get('/feed.atom?q=ocean')).text.match(/<entry>/g)).toHaveLength(1)
    const searched = await registry.get('/feed.atom?junk=1&q=ocean')
    expect(searched.text).toContain(`href="http://localhost:${registry.port}/feed.atom?q=ocean"`)
    expect((await registry.get('/feed.atom?q=a&q=b')).status).toBe(400)
    expect((await registry.get('/u/ana/feed.atom')).text.match(/<entry>/g)).toHaveLength(2)
    expect((await registry.get('/u/nobody/feed.atom')).text).not.toContain('<entry>')

    const sitemap = await registry.get('/sitemap.xml')
    expect(sitemap.text.match(/<loc>/g)).toHaveLength(3)
    expect(sitemap.text).not.toContain('hidden')
    expect((await registry.get('/robots.txt')).text).toContain(
      `Sitemap: http://localhost:${registry.port}/sitemap.xml`,
    )
  })

  test('return 404 for sitemaps beyond the last', async () => {
    const first = await registry.get('/sitemap-1.xml')
    expect([first.status, first.text.match(/<loc>/g)?.length]).toEqual([200, 3])
    for (const page of ['0', '2', '9007199254740993', '9'.repeat(40)]) {
      const { status, body } = await registry.get(`/sitemap-${page}.xml`)
      expect([status, body]).toEqual([404, { detail: `there is no sitemap ${page}` }])
    }
    expect((await registry.get('/sitemap--1.xml')).status).toBe(404)
  })

  test('are valid XML even with invalid characters in old data or in a query', async () => {
    const { db } = await registry.connect()
    const bad = '\u0001\u000b\u001f\ufffe\uffff'
    const changed = await db
      .updateTable('model')
      .set({
        display_name: `Ti${bad}de 🐟`,
        description: `a${bad}b`,
        tags: JSON.stringify([`oc${bad}ean`]),
      })
      .where('name', '=', 'tide')
      .returning('display_name')
      .executeTakeFirstOrThrow()
    expect(changed.display_name).toContain(bad)
    await db.updateTable('model').set({ display_name: ' ' }).where('name', '=', 'storm').execute()

    const query = encodeURIComponent(bad)
    const paths = ['/feed.atom', `/feed.atom?q=tide${query}`, '/u/ana/feed.atom', '/sitemap.xml']
    for (const path of [...paths, '/', '/m/tide', '/u/ana']) {
      const { status, text } = await registry.get(registry.url + path)
      expect.soft(status, path).toBe(200)
      if (paths.includes(path)) expect.soft(text, path).not.toMatch(notXml)
    }
    const { text } = await registry.get('/feed.atom')
    expect(text).toContain('<title>Tide 🐟</title>')
    expect(text).toContain('<category term="ocean"/>')
    expect(text).toContain('<title>storm</title>') // the name replaces the blank display name
  })
})
