/** Tests the API reference in a real browser. */
import { expect, inject, onTestFinished, test } from 'vitest'
import { startBrowser } from '../../../../testing/browser.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

test('the API reference is sent compressed, and is revalidated with its ETag', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.close())
  const headers = { 'accept-encoding': 'br' }
  const names = ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css']
  for (const path of ['/docs/json', ...names.map((name) => `/docs/static/${name}`)]) {
    const whole = await registry.bytes(registry.url + path, { 'accept-encoding': 'identity' })
    expect([path, whole.headers.get('content-encoding')]).toEqual([path, null])
    const sent = await fetch(registry.url + path, { headers })
    const { status, headers: sentHeaders } = sent
    expect([path, status, sentHeaders.get('content-encoding')]).toEqual([path, 200, 'br'])
    expect(Number(sentHeaders.get('content-length'))).toBeLessThan(whole.bytes.length / 3)
    expect(sentHeaders.get('vary')).toContain('Accept-Encoding')
    expect(Buffer.from(await sent.arrayBuffer()).equals(whole.bytes)).toBe(true)
    const etag = sentHeaders.get('etag') ?? ''
    const again = await registry.get(path, { headers: { ...headers, 'if-none-match': etag } })
    expect([path, again.status]).toEqual([path, 304])
  }
})

test.skipIf(!chromium)(
  'the API reference shows this project’s logo, and violates no policy',
  async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.close())
    const origin = `http://localhost:${registry.port}`
    await using browser = await startBrowser(chromium ?? '', [origin])
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(`${origin}/docs`)
    await page.locator('.topbar a.link img').waitFor()
    const logo = page.locator('.topbar a.link')
    expect(await logo.innerHTML()).toContain(
      Buffer.from((await registry.get('/favicon.svg')).text).toString('base64'),
    )
    expect(await page.locator('.topbar a.link svg').count()).toBe(0)
    await page.locator('.opblock-summary-control', { hasText: '/v1/stats' }).click()
    await page.locator('.try-out__btn').first().click()
    await page.locator('button.execute').first().click()
    await page.locator('.live-responses-table').first().waitFor()
    const width = "document.querySelector('.topbar img').naturalWidth"
    expect(await page.evaluate(width)).toBeGreaterThan(0)
    expect(takeProblems()).toEqual([])
  },
)
