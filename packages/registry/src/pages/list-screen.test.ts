/** Tests finding and choosing a model in a real browser. */
import { makeGguf } from '@shoal/model-file/testing'
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
    const wide = { name: 'kelp', display_name: 'Kelp' }
    await publish(registry, ana, wide, 'kelp-F32.gguf', ggufWithLongContext())
    await publish(registry, ana, wide, 'mmproj-kelp-F16.gguf', smallGguf(2))
  })
  afterAll(() => stack.disposeAsync())

  const names = (page: Page) => page.locator('#models li h2 a, #models li h3 a').allInnerTexts()

  test('filters show only values that match models, with the number of models', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await openPage(page, origin)
    const facet = (name: string) => page.getByRole('navigation', { name, exact: true })
    const values = (name: string) => facet(name).getByRole('link').allInnerTexts()
    const choose = async (name: string, value: RegExp, count: number) => {
      await facet(name).getByRole('link', { name: value }).click()
      await page.getByRole('heading', { name: new RegExp(`^${count} models?$`) }).waitFor()
    }
    await choose('Architecture', /^llama/, 3)
    await expect.poll(() => values('License')).toEqual(['isc\n1', 'mit\n1'])
    expect(await values('Architecture')).toEqual(['llama\n3', 'qwen\n1'])

    await choose('Tags', /^chat/, 2)
    await choose('Tags', /^code/, 1)
    expect(await names(page)).toEqual(['tide'])
    expect(new URL(page.url()).search).toBe('?architecture=llama&tag=chat&tag=code')
    await expect.poll(() => values('License')).toEqual(['mit\n1'])
    expect(await page.getByText('by ana').count()).toBe(1)
    for (const { theme, width } of looks) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 860 })
      expect(await accessibilityProblems(page)).toEqual([])
    }
    await page.setViewportSize({ width: 1360, height: 860 })

    await reloadPage(page)
    expect(await names(page)).toEqual(['tide'])
    const chosen = (name: string) => page.getByRole('link', { name: `Remove the filter ${name}` })
    await chosen('chat').click()
    await chosen('chat').waitFor({ state: 'detached' })
    await chosen('llama').click()
    await page.getByRole('heading', { name: /^2 models$/ }).waitFor()
    expect(takeProblems()).toEqual([])
  })

  test('models can be limited to a range of sizes', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, origin)
    await page.getByLabel('Minimum number of parameters').selectOption('4B')
    await page.getByRole('heading', { name: /^2 models$/ }).waitFor()
    await page.getByLabel('Maximum number of parameters').selectOption('8B')
    await page.getByRole('heading', { name: /^1 model$/ }).waitFor()
    expect(await names(page)).toEqual(['reef'])
    const ends = page.getByLabel('Minimum number of parameters').locator('option')
    expect(await ends.allInnerTexts()).toEqual(['Min', '500M', '1B', '2B', '4B'])
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

  test('memory estimates are for the chosen context length, which is shown and remembered', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, `${origin}/m/kelp?tab=files`)
    await page.getByText('Estimates include a context of 8K tokens.').waitFor()
    const memory = () => page.getByText(/^(runs in|needs) /).innerText()
    const usual = await memory()
    await page.getByLabel('Context in tokens').selectOption('128K')
    await page.getByText('Estimates include a context of 128K tokens.').waitFor()
    const long = await memory()
    expect(long).not.toBe(usual)

    const { text } = await registry.get(`${origin}/m/kelp?tab=files`, {
      headers: {
        accept: 'text/html',
        cookie: 'context=131072',
      },
    })
    expect(text).toContain(long.replace(/^\w+ /, ''))
    await reloadPage(page)
    expect(await memory()).toBe(long)
  })

  test('models can be limited to those that fit with a chosen context length', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, origin)
    await page.getByLabel('Fits in memory').selectOption('8 GB')
    await page.getByRole('heading', { name: /^1 model$/ }).waitFor()
    const memory = () => page.getByText(/^runs in /).innerText()
    const usual = await memory()
    await page.getByLabel('with context').selectOption('32K')
    await page.getByRole('link', { name: 'fits in 8 GB, context 32K' }).waitFor()
    await expect.poll(memory).not.toBe(usual)
    await page.getByRole('heading', { name: /^1 model$/ }).waitFor() // hidden until the list has been loaded
    expect(new URL(page.url()).search).toBe('?fits=8&context=32768')
    expect(await accessibilityProblems(page)).toEqual([])

    await page.getByLabel('with context').selectOption('128K')
    await page.getByText('No models found').waitFor()
    await page.getByRole('link', { name: 'fits in 8 GB, context 128K' }).click()
    await page.getByRole('heading', { name: /^4 models$/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('a page beyond the end of the list links to the last page', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    for (const path of ['/?page=500', '/u/ana?page=500']) {
      await openPage(page, origin + path)
      await page.getByText('There is no page 500').waitFor()
      expect(await page.getByText(/Page 500/).count()).toBe(0)
      await page.getByRole('link', { name: 'Go to page 1' }).click()
      await page.getByText('Kelp').first().waitFor()
    }
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

  test('the commands for a vision model include its projector', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await openPage(page, `${origin}/m/kelp`)
    await page.getByText('llama.cpp also needs the projector mmproj-kelp-F16').waitFor()
    await page.getByText('llama.cpp', { exact: true }).click()
    const here = `localhost:${registry.port}/kelp`
    const command = `llama-mtmd-cli -m "$(shoal pull ${here}:F32)" --mmproj "$(shoal pull ${here}:mmproj-kelp-F16)"`
    await page.getByText(command).waitFor()
  })
})

/** Returns a GGUF file whose 16 layers, with 8 heads of 128 numbers each, take 64 KiB per token of context. */
function ggufWithLongContext(): Buffer<ArrayBuffer> {
  const bytes = makeGguf({
    metadata: {
      'general.architecture': 'llama',
      'general.file_type': 0,
      'llama.context_length': 131_072,
      'llama.block_count': 16,
      'llama.embedding_length': 64,
      'llama.attention.head_count': 8,
      'llama.attention.head_count_kv': 8,
      'llama.attention.key_length': 128,
      'llama.attention.value_length': 128,
    },
    tensors: [{ name: 'token_embd.weight', shape: [64], type: 'F32' }],
    fill: (data) => data.fill(1),
  })
  return Buffer.from(bytes)
}
