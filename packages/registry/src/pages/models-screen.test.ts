/** Tests finding and choosing a model, and model cards, in a real browser. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  openPage,
  type Page,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { watchLayoutShift } from '../testing/layout-shift.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

const formulas = String.raw`The price is $5 and $6, the area is \(\pi r^2\), and

\[
\int_0^1 x^2 \, dx = \frac{1}{3} ${'+ a_1'.repeat(200)}
\]
`

const code = `
\`\`\`python
import shoal  # the client
print("tide", 1)
\`\`\`

\`\`\`diff
-old
+new
\`\`\`
`

describe.skipIf(!chromium)('in a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let origin: string
  const origins: string[] = []
  let ana: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    origins.push(origin)
    browser = stack.use(await startBrowser(chromium ?? '', origins))
    ana = await registry.register('ana')
    const models = [
      {
        name: 'tide',
        readme: 'A *tide*.',
        architecture: 'llama',
        license: 'mit',
        tags: ['chat', 'code'],
      },
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
    await expectUsable(page)
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
    const readme = '## Results\n\nשלום\n\ntext'
    await registry.post('/v1/models', { token: ana, body: { name: 'carded', readme } })
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, `${origin}/m/carded`)
    await page.getByRole('heading', { name: 'Results', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Link to Results' }).waitFor()
    const directions = await page.evaluate(
      "[...document.querySelectorAll('.prose p')].map((one) => getComputedStyle(one).unicodeBidi)",
    )
    expect(directions).toEqual(['plaintext', 'plaintext'])
  })

  test('the layout does not shift when the first card is rendered', async () => {
    const cold = await startTestRegistry()
    stack.defer(() => cold.close())
    const coldOrigin = `http://localhost:${cold.port}`
    origins.push(coldOrigin)
    const token = await cold.register('ana')
    const readme = `# Kelp\n\n${'A sentence about kelp. '.repeat(400)}`
    await cold.post('/v1/models', { token, body: { name: 'kelp', readme } })
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    const getShift = await watchLayoutShift(page)
    await openPage(page, `${coldOrigin}/m/kelp`)
    await page.getByText('A sentence about kelp.').first().waitFor()
    expect(await getShift()).toBeLessThan(0.05)
  })

  test('a card is loaded again if the registry was too busy to render it', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.clock.install()
    const source =
      '<p class="card-note" data-state="busy" role="status">busy</p><pre>A *tide*.</pre>'
    let isBusy = true
    let requests = 0
    await page.route('**/v1/models/tide/card*', (route) => {
      requests += 1
      return isBusy ? route.fulfill({ contentType: 'text/html', body: source }) : route.continue()
    })
    await openPage(page, `${origin}/m/tide?tab=files`)
    await page.getByRole('link', { name: 'Card' }).click()
    await page.getByRole('status').filter({ hasText: 'busy' }).waitFor()
    isBusy = false
    await page.clock.fastForward(6_000)
    await page.locator('em', { hasText: 'tide' }).waitFor()
    const requestsBefore = requests
    await page.clock.fastForward(60_000)
    expect(requests).toBe(requestsBefore) // a card that has been rendered is not loaded again
  })

  test('a card shows code in colors with enough contrast', async () => {
    await registry.post('/v1/models', { token: ana, body: { name: 'code', readme: code } })
    await registry.get('/v1/models/code/card')
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(`${origin}/m/code`)
    await page.locator('.card-deleted').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const colors = await page.evaluate(
        `[...new Set([...document.querySelectorAll('pre, pre span')].map((one) => getComputedStyle(one).color))]`,
      )
      expect(colors).toHaveLength(7) // six kinds of tokens, and other text
      expect(await accessibilityProblems(page)).toEqual([])
    }
    expect(takeProblems()).toEqual([])
  })

  test.each([true, false])(
    'a card shows formulas without styles or fonts (scripts: %s)',
    async (scripts) => {
      await registry.post('/v1/models', { token: ana, body: { name: 'sums', readme: formulas } })
      await registry.get('/v1/models/sums/card')
      await using visitor = await browser.newVisitor({ scripts, width: 390 })
      const { page, takeProblems } = visitor
      await page.goto(`${origin}/m/sums`)
      const display = page.getByRole('group', { name: 'Formula' })
      await display.waitFor()
      expect(await page.locator('math').count()).toBe(2)
      expect(await page.getByText('The price is $5 and $6').count()).toBe(1)
      const math = display.locator('math')
      await expect.poll(() => math.evaluate(({ scrollWidth }) => scrollWidth)).toBeGreaterThan(390)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      if (scripts) expect(await accessibilityProblems(page)).toEqual([])
      expect(takeProblems()).toEqual([])
    },
  )
})
