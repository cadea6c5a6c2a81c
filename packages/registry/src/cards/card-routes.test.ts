import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findHarm } from '@shoal/cards/testing/find-harm'
import { beforeAll, expect, test } from 'vitest'
import { getCard } from '../testing/get-card.ts'
import { describeApi, type TestRegistry } from '../testing/test-registry.ts'

const hostile = readFileSync(
  join(import.meta.dirname, '../../../cards/src/testing/hostile-card.md'),
  'utf8',
)
const chart = '![Chart](https://a.example/chart.png)'

describeApi("a model's card", { on: ['SQLite'] }, (start) => {
  let registry: TestRegistry
  let ana: string
  const publish = (body: object) => registry.post('/v1/models', { token: ana, body })

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    await publish({ name: 'tide-7b', display_name: 'Tide 7B', readme: `# Tide 7b\n\n${chart}` })
    await publish({ name: 'bare' })
    await publish({ name: 'secret', is_public: false, readme: 'A *secret*.' })
    await publish({ name: 'hostile', readme: hostile })
  })

  test("is an HTML fragment without a title that repeats the model's name", async () => {
    const { status, headers, text } = await getCard(registry, '/v1/models/tide-7b/card')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text.trim()).toBe(
      '<p><span class="card-image" data-src="https://a.example/chart.png">Chart</span></p>',
    )
  })

  test('includes images on request', async () => {
    const { text } = await getCard(registry, '/v1/models/tide-7b/card?images=1')
    expect(text).toContain('<img src="https://a.example/chart.png" alt="Chart"')
    expect((await registry.get('/v1/models/tide-7b/card?images=yes')).status).toBe(400)
  })

  test('is sandboxed if it is opened directly', async () => {
    for (let time = 0; time < 2; time += 1) {
      const { headers } = await registry.get('/v1/models/hostile/card?images=1')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('is harmless, even if its author is hostile', async () => {
    for (const query of ['', '?images=1']) {
      const { text } = await getCard(registry, `/v1/models/hostile/card${query}`)
      expect(text).toContain('harmless words')
      expect(findHarm(text)).toEqual([])
    }
  })

  test('is empty if the model has no README', async () => {
    const { status, headers, text } = await registry.get('/v1/models/bare/card')
    expect([status, text]).toEqual([200, ''])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('can be previewed by signed-in users', async () => {
    const draft = { readme: `# Tide 7b\n\nA *draft*. ${chart}`, names: ['Tide 7B'] }
    const render = (body: object, token?: string) => registry.post('/v1/cards', { body, token })
    const { status, headers, text } = await render(draft, ana)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<p>A <em>draft</em>. <span class="card-image"')
    expect(text).not.toContain('<h')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(findHarm((await render({ readme: hostile }, ana)).text)).toEqual([])
    expect((await render({ readme: '' }, ana)).text).toBe('')
    expect((await render(draft)).status).toBe(401)
    expect((await render({ readme: 'a'.repeat(512 * 1024 + 1) }, ana)).status).toBe(422)
    expect((await render({}, ana)).status).toBe(422)
  })

  test('is visible only to users who can see the model', async () => {
    const ben = await registry.register('ben')
    for (const token of [undefined, ben]) {
      expect((await registry.get('/v1/models/secret/card', { token })).status).toBe(404)
    }
    const { text } = await getCard(registry, '/v1/models/secret/card', { token: ana })
    expect(text).toBe('<p>A <em>secret</em>.</p>')
    expect((await registry.get('/v1/models/nothing/card')).body).toEqual({
      detail: 'no model nothing',
      code: 'model_unknown',
    })
  })

  test('has an ETag, so that it is sent again only after a change', async () => {
    const path = '/v1/models/changing/card'
    await publish({ name: 'changing', readme: 'One.' })
    const first = await getCard(registry, path)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    const second = await registry.get(path, { headers })
    expect([second.status, second.text]).toEqual([304, ''])
    await registry.call('PATCH', '/v1/models/changing', { token: ana, body: { readme: 'Two.' } })
    expect((await getCard(registry, path, { headers })).text).toBe('<p>Two.</p>')
    expect((await registry.call('HEAD', path)).headers.get('content-length')).toBe('11')
  })

  test('may have up to 512 Ki characters; a longer card is refused before it is rendered', async () => {
    const publishCard = async (length: number) =>
      (await publish({ name: 'longer', readme: '>'.repeat(length) })).status
    expect(await publishCard(5 * 1024 * 1024)).toBe(413)
    expect(await publishCard(512 * 1024 + 1)).toBe(422)
    expect(await publishCard(512 * 1024)).toBe(201)
    const nested = await getCard(registry, '/v1/models/longer/card')
    expect(nested.status).toBe(200)
    expect(nested.text).toMatch(/^<p class="card-note" [^>]*>This card could not be formatted/)
    expect(nested.text).toMatch(/<pre class="card-plain" tabindex="0">\n&gt;&gt;/)
    expect(nested.headers.has('retry-after')).toBe(false)
  })
})
