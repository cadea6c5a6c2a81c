/** Tests finding and choosing a model in a real browser. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  looks,
  openPage,
  type Page,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('in a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let origin: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
    const ana = await registry.register('ana')
    const models = [
      { name: 'tide', architecture: 'llama', license: 'mit', tags: ['chat', 'code'] },
      { name: 'reef', architecture: 'llama', license: 'isc', tags: ['chat'] },
      { name: 'gull', architecture: 'qwen', license: 'mit', tags: ['code'] },
    ]
    for (const [index, model] of models.entries()) {
      const body = { ...model, parameter_count: (index + 1) * 3e9 }
      await registry.post('/v1/models', { token: ana, body })
    }
  })
  afterAll(() => stack.disposeAsync())

  const names = (page: Page) => page.locator('#models li h2 a, #models li h3 a').allInnerTexts()

  test('chosen filters are accessible, and survive a reload', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await openPage(page, origin)
    const facet = (name: string) => page.getByRole('navigation', { name, exact: true })
    const choose = async (name: string, value: RegExp, count: number) => {
      await facet(name).getByRole('link', { name: value }).click()
      await page.getByRole('heading', { name: new RegExp(`^${count} models?$`) }).waitFor()
    }
    await choose('Architecture', /^llama/, 2)
    await choose('Tags', /^chat/, 2)
    await choose('Tags', /^code/, 1)
    for (const { theme, width } of looks) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 860 })
      expect(await accessibilityProblems(page)).toEqual([])
    }
    await reloadPage(page)
    expect(await names(page)).toEqual(['tide'])
    expect(takeProblems()).toEqual([])
  })

  test('the first model can be reached with the keyboard without passing all filters', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, origin)
    const skip = page.getByRole('link', { name: 'Skip filters' })
    await skip.focus()
    await page.keyboard.press('Enter')
    await page.locator('#models:focus').waitFor()
    for (const name of ['Most pulled', 'Most liked', 'Newest']) {
      await page.keyboard.press('Tab')
      expect(await page.locator(':focus').innerText()).toBe(name)
    }
    await page.keyboard.press('Tab')
    expect(await page.locator('#models li a:focus').count()).toBe(1)
  })

  test('a name of 96 characters fits on every page', async () => {
    const name = 'x'.repeat(96)
    const token = await registry.register('olaf-with-a-long-name')
    await publish(registry, token, { name, readme: '# x' }, `${name}-F32.gguf`, smallGguf(3))
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    for (const path of ['/', `/m/${name}`, `/m/${name}?tab=files`, `/m/${name}?tab=metadata`]) {
      await openPage(page, origin + path)
      for (const width of [320, 390, 768, 1024, 1360]) {
        await page.setViewportSize({ width, height: 860 })
        const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([path, width, Math.max(0, Number(excess))]).toEqual([path, width, 0])
      }
    }
    await registry.call('DELETE', `/v1/models/${name}`, { token })
  })

  test('screen readers read the headings of a card without their links', async () => {
    const token = await registry.register('carl')
    const readme = '## Results\n\nשלום\n\ntext'
    await registry.post('/v1/models', { token, body: { name: 'carded', readme } })
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, `${origin}/m/carded`)
    await page.getByRole('heading', { name: 'Results', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Link to Results' }).waitFor()
    const directions = await page.evaluate(
      "[...document.querySelectorAll('.prose p')].map((one) => getComputedStyle(one).unicodeBidi)",
    )
    expect(directions).toEqual(['plaintext', 'plaintext'])
    await registry.call('DELETE', '/v1/models/carded', { token })
  })

  test('the layout does not shift when the first card is rendered', async () => {
    const cold = await startTestRegistry()
    const coldOrigin = `http://localhost:${cold.port}`
    await using stranger = await startBrowser(chromium ?? '', [coldOrigin])
    try {
      const token = await cold.register('ana')
      const readme = `# Kelp\n\n${'A sentence about kelp. '.repeat(400)}`
      await cold.post('/v1/models', { token, body: { name: 'kelp', readme } })
      await using visitor = await stranger.newVisitor()
      const { page } = visitor
      await page.addInitScript(`
        window.shifts = []
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) shifts.push(value)
        }).observe({ type: 'layout-shift', buffered: true })`)
      await openPage(page, `${coldOrigin}/m/kelp`)
      await page.getByText('A sentence about kelp.').first().waitFor()
      const shifts = (await page.evaluate('shifts')) as number[]
      expect(shifts.reduce((sum, one) => sum + one, 0)).toBeLessThan(0.05)
    } finally {
      await cold.close()
    }
  })

  test('the API reference has the logo of shoal', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.goto(`${origin}/docs`)
    await page.getByText('List and search models').waitFor()
    const logo = page.locator('.topbar img')
    expect(await logo.getAttribute('src')).toMatch(/^data:image\/svg\+xml/)
    const width = await page.evaluate("document.querySelector('.topbar img').naturalWidth")
    expect(width).toBeGreaterThan(0)
  })
})
