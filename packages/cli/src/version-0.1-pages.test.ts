/** Opens the current pages in a browser that has the cookies and databases of version 0.1. */
import { once } from 'node:events'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Page, startBrowser, type Visitor } from '../../../testing/browser.ts'
import { freePort } from '../../../testing/free-port.ts'
import { keptByBrowser, openFixture } from '../../../testing/version-0.1/open-fixture.ts'
import { nanoPath, putModelFile } from './testing/local-files.ts'
import { type RealRegistry, realRegistry } from './testing/real-registry.ts'
import { startShoal } from './testing/run-shoal.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('a browser with data from version 0.1', () => {
  const stack = new AsyncDisposableStack()
  let opened: Awaited<ReturnType<typeof openFixture>>
  let registry: RealRegistry
  let daemonUrl: string
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    opened = stack.use(await openFixture())
    registry = stack.use(await realRegistry({ dataDirectory: opened.data }))
    await opened.moveHome(registry.url)
    await putModelFile(join(opened.home, 'data/models/shoal-nano', basename(nanoPath)))
    daemonUrl = await startDaemon()
    const browser = stack.use(await startBrowser(chromium ?? '', [registry.url, daemonUrl]))
    const storageState = await keptByBrowser(registry.url, daemonUrl)
    visitor = stack.use(await browser.newVisitor({ storageState }))
    page = visitor.page
  })
  afterAll(() => stack.disposeAsync())

  /** Starts `shoal serve` with version 0.1's home and returns the daemon's address. */
  async function startDaemon(): Promise<string> {
    const port = await freePort()
    const { child, outcome } = startShoal(['serve', '--port', String(port)], {
      home: opened.home,
      env: { SHOAL_THREADS: '1' },
    })
    stack.defer(async () => {
      child.kill('SIGINT')
      await outcome
    })
    await once(child.stdout, 'data')
    return `http://localhost:${port}`
  }

  test('chats are listed, opened with their settings, and can be continued', async () => {
    await page.goto(daemonUrl)
    const chats = page.getByRole('navigation').getByRole('link')
    await page.getByRole('link', { name: 'Tides' }).click()
    await page.getByText('What is the tide?').waitFor()
    await page.getByRole('button', { name: /^Parameters: .*temperature 0/ }).waitFor()
    const answers = page.getByRole('button', { name: 'Copy the answer' })
    await expect.poll(() => answers.count()).toBe(2)
    await page.getByRole('textbox', { name: /message/i }).fill('And the sun?')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => answers.count()).toBe(3)
    await page.reload()
    await page.getByText('And the sun?').waitFor()
    await page.getByRole('link', { name: 'Hello' }).click()
    await expect.poll(() => answers.count()).toBe(1)
    expect(await chats.count()).toBe(2)
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(visitor.takeProblems()).toEqual([])
  })

  test('a session is still valid, and an upload sends only missing chunks', async () => {
    await page.goto(`${registry.url}/publish`, { waitUntil: 'networkidle' })
    await page.getByRole('button', { name: 'Signed in as ana' }).waitFor()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.getByRole('heading', { name: 'storm is not fully uploaded' }).waitFor()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(request.url())
    })
    const choose = page.getByLabel('Choose and resume')
    await choose.setInputFiles(join(opened.files, 'storm-Q8_0.gguf'))
    await page.getByRole('heading', { name: 'storm is published' }).waitFor()
    expect(sent).toEqual([expect.stringContaining('partNumber=1&')])
    expect(await registry.listFiles('storm')).toMatchObject([{ status: 'ready' }])
    expect(visitor.takeProblems()).toEqual([])
  })
})
