/**
 * Tests a complete user journey with a real registry, browser, CLI, daemon and demo model. The user registers, creates
 * an API key, and publishes a model by drag and drop. Then the user finds and likes the model, pulls it with the key,
 * and chats on the daemon's page. Finally, the user removes the model from the daemon, and runs it from its page on the
 * registry.
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPage, type Page, startBrowser, type Visitor } from '../../../testing/browser.ts'
import { freePort } from '../../../testing/free-port.ts'
import { type RealRegistry, realRegistry } from './testing/real-registry.ts'
import { makeHome, runShoal, startShoal } from './testing/run-shoal.ts'

const chromium = inject('chromium')
const filename = 'shoal-tiny-Q8_0.gguf'
const modelPath = join(import.meta.dirname, '../../../models/shoal-tiny', filename)
const waitOptions = { timeout: 60_000 }

describe.skipIf(!chromium)('a user with a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: RealRegistry
  let daemonUrl: string
  let daemonPort: number
  let visitor: Visitor
  let page: Page
  let home: Awaited<ReturnType<typeof makeHome>>
  let key: string

  beforeAll(async () => {
    registry = stack.use(await realRegistry())
    daemonPort = await freePort()
    daemonUrl = `http://localhost:${daemonPort}`
    home = stack.use(await makeHome())
    const browser = stack.use(await startBrowser(chromium ?? '', [registry.url, daemonUrl]))
    visitor = stack.use(await browser.newVisitor())
    page = visitor.page
  })
  afterAll(() => stack.disposeAsync())

  test('registers', async () => {
    await openPage(page, registry.url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Register' }).click()
    await page.getByRole('heading', { name: 'Register' }).waitFor()
    await page.getByLabel('Username').fill('ines')
    await page.getByLabel('Password', { exact: true }).fill('open sesame')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('button', { name: 'Signed in as ines' }).waitFor()
  })

  test('creates an API key', async () => {
    await page.getByRole('button', { name: 'Signed in as ines' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('laptop')
    await page.getByRole('button', { name: 'Create key' }).click()
    key = (await page.getByText(/^hf_[A-Za-z0-9]{43}$/).textContent()) ?? ''
    expect(key).toMatch(/^hf_/)
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.getByText(key).count()).toBe(0)
  })

  test('publishes a model by dropping its file', async () => {
    await page.getByRole('link', { name: 'Publish' }).first().click()
    const input = page.locator('input[type=file]')
    await input.waitFor({ state: 'attached' })
    await page.getByLabel('Name', { exact: true }).fill('my-tiny') // before a name is suggested
    await input.setInputFiles(modelPath)
    await page.getByLabel('Details read from the files').waitFor()
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('heading', { name: /is published/ }).waitFor(waitOptions)
    // Chromium logs the 404 response, which means that the name is available.
    expect(visitor.takeProblems()).toEqual([expect.stringContaining('status of 404')])
  })

  test('finds the model by searching, and likes the model', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('my-ti')
    await page.getByRole('main').getByRole('link', { name: /tiny/i }).first().click()
    const like = page.getByRole('button', { name: /^Like/ })
    const answered = page.waitForResponse((answer) => answer.url().endsWith('/like'))
    await like.click()
    await answered // the button changes before the response arrives
    await page.getByRole('button', { name: /^Liked/ }).waitFor()
    await page.reload()
    expect(await page.getByRole('button', { name: /^Liked/ }).textContent()).toContain('1')
  })

  test('pulls the model with the CLI and the API key', async () => {
    const env = { SHOAL_REGISTRY: registry.url, SHOAL_TOKEN: key }
    const { stdout, stderr, exitCode } = await runShoal(['pull', 'my-tiny'], {
      home: home.path,
      env,
    })
    expect(exitCode, stderr).toBe(0)
    const [pulled, original] = await Promise.all([readFile(stdout.trim()), readFile(modelPath)])
    expect(pulled.equals(original)).toBe(true)
  })

  test("chats with the model on the daemon's page", async () => {
    const env = { SHOAL_THREADS: '1', SHOAL_REGISTRY: registry.url }
    const words = ['serve', '--port', String(daemonPort)]
    const { child, outcome } = startShoal(words, { home: home.path, env })
    stack.defer(async () => {
      child.kill('SIGINT')
      await outcome
    })
    await once(child.stdout, 'data')
    await page.goto(daemonUrl)
    await page.getByRole('textbox', { name: /message/i }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect
      .poll(() => page.getByRole('main').innerText(), waitOptions)
      .toMatch(/tok\/s|tokens/)
    expect(visitor.takeProblems()).toEqual([])
  })

  test("removes the model on the daemon's page", async () => {
    await page.getByRole('button', { name: 'Models', exact: true }).click()
    await page.getByRole('button', { name: 'Remove my-tiny' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No models yet. Search a registry below, and pull a model.').waitFor()
    expect(existsSync(join(home.models, 'my-tiny', filename))).toBe(false)
  })

  test('runs the model from its page on the registry', async () => {
    await page.goto(`${registry.url}/m/my-tiny?tab=files`)
    const href = await page.getByRole('link', { name: 'Run here: Q8_0' }).getAttribute('href')
    expect(href).toBe(
      `http://localhost:11434/#run=${encodeURIComponent(`${registry.url}/my-tiny:Q8_0`)}`,
    )
    await page.goto(href?.replace('11434', String(daemonPort)) ?? '')
    await page.getByRole('heading', { name: 'Run my-tiny?' }).waitFor()
    await page.getByText('This registry is configured on this machine.').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Download and run (5.65 MB)' }).click()
    await page.getByRole('heading', { name: 'Talk to my-tiny' }).waitFor(waitOptions)
    expect(existsSync(join(home.models, 'my-tiny', filename))).toBe(true)
    await page.getByRole('textbox', { name: /message/i }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect
      .poll(() => page.getByRole('main').innerText(), waitOptions)
      .toMatch(/tok\/s|tokens/)
    expect(visitor.takeProblems()).toEqual([])
  })
})
