/** Tests model cards in a real browser. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  openPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
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

describe.skipIf(!chromium)("a model's card in a browser", () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let origin: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide', readme: 'A *tide*.' } })
    await registry.post('/v1/models', { token, body: { name: 'sums', readme: formulas } })
    await registry.post('/v1/models', { token, body: { name: 'code', readme: code } })
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
  })
  afterAll(() => stack.disposeAsync())

  test('is loaded again if the registry was too busy to render it', async () => {
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

  test.each(['light', 'dark'] as const)(
    'shows code in colors with enough contrast (%s)',
    async (theme) => {
      await registry.get('/v1/models/code/card')
      await using visitor = await browser.newVisitor({ theme })
      const { page, takeProblems } = visitor
      await page.goto(`${origin}/m/code`)
      await page.locator('.card-deleted').waitFor()
      const readColors = () =>
        page.evaluate(
          `[...new Set([...document.querySelectorAll('pre, pre span')].map((one) => getComputedStyle(one).color))]`,
        )
      expect(await readColors()).toHaveLength(7) // six kinds of tokens, and other text
      expect(await accessibilityProblems(page)).toEqual([])
      expect(takeProblems()).toEqual([])
    },
  )

  test.each([true, false])(
    'shows formulas without styles or fonts (scripts: %s)',
    async (scripts) => {
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
