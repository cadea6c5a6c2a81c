/** Tests “Run here” links, and the search and the list of models, on the chat page in a real browser. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatRunLink } from '@shoal/core/references'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { looks, type Page, type TestBrowser } from '../../../../testing/browser.ts'
import { canBrowse, chatBrowser, expectAccessible } from '../testing/chat-browser.ts'
import { startRecordingServer } from '../testing/recording-server.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { shippedModels, type TestDaemon } from '../testing/test-daemon.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

const file = {
  id: 'f',
  model_id: 'm',
  filename: 'tide-Q8_0.gguf',
  quantization: 'Q8_0',
  file_size_bytes: 4_400_000_000,
  memory_bytes: 5_400_000_000,
  sha256_hash: 'a'.repeat(64),
}

describe.skipIf(!canBrowse)('in a browser', () => {
  const { stack, startDaemon, startBrowser } = chatBrowser()
  let registry: Awaited<ReturnType<typeof startTestRegistry>>
  let known: Awaited<ReturnType<typeof startRecordingServer>>
  let unknown: typeof known
  let daemon: TestDaemon
  let browser: TestBrowser

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(registry.close)
    const path = join(shippedModels, 'shoal-tiny', 'shoal-tiny-Q8_0.gguf')
    await registry.publish('tide', path, 'tide-Q8_0.gguf')
    const start = async (body: unknown) => {
      const server = await startRecordingServer(body)
      stack.defer(server.close)
      return server
    }
    known = await start([file])
    unknown = await start([file])
    const settings = {
      memoryBytes: 8e9,
      registry: { address: registry.address, token: undefined },
      otherRegistries: async () => [{ address: known.address, token: 'secret' }],
    }
    daemon = await startDaemon(settings, scriptedRuntime())
    browser = await startBrowser()
  })
  afterAll(() => stack.disposeAsync())

  const linkTo = (address: string) =>
    formatRunLink(daemon.url, { registry: address, name: 'tide', label: 'Q8_0' })

  /** Waits until the question is shown and its buttons can be clicked. */
  const untilAsked = (page: Page) =>
    page.getByRole('button', { name: 'Continue' }).click({ trial: true })

  test('a link asks before anything is sent, is removed from the address bar, and asks again after a reload', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(linkTo(known.address))
    await untilAsked(page)
    expect(page.url()).toBe(`${daemon.url}/`)
    await page.reload()
    await page.getByRole('heading', { name: 'Run tide?' }).waitFor()
    await untilAsked(page)
    expect(await page.getByRole('main').innerText()).toMatch(
      new RegExp(`http, which.*${known.address.slice(7)}.*tide.*Q8_0.*unknown until`, 's'),
    )
    expect(known.requests).toEqual([])

    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Download and run (4.40 GB)' }).waitFor()
    expect(known.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret'])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    expect(known.requests).toHaveLength(1)
    expect(takeProblems()).toEqual([])
  })

  test('an unknown registry is contacted only after a second confirmation, and without credentials', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.goto(linkTo(unknown.address))
    await page.getByText(`The registry ${unknown.address.slice(7)} is not configured`).waitFor()
    await page.getByText('The address belongs to this machine').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: `Contact ${unknown.address.slice(7)}?` }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(unknown.requests).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('button', { name: 'Contact this registry' }).click()
    await page.getByRole('button', { name: 'Download and run (4.40 GB)' }).waitFor()
    expect(unknown.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
    await page.getByRole('button', { name: 'Download and run (4.40 GB)' }).click()
    const alert = page.getByRole('alert').filter({ hasText: 'no “chunk_hashes”' })
    await alert.waitFor() // the server's response is not a valid download
    await page.getByRole('button', { name: 'Download and run (4.40 GB)' }).waitFor()
    // The folder has not been claimed for the unknown registry, so a model from a known registry can still use it.
    expect(existsSync(join(daemon.folder, 'tide', '.shoal', 'model.json'))).toBe(false)
  })

  test('a link opened in a tab that shows a chat also asks first, and the user can switch between the chat and the models', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.goto(daemon.url)
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    await page.evaluate(`location.hash = '${new URL(linkTo(known.address)).hash}'`)
    await page.getByRole('heading', { name: 'Run tide?' }).waitFor()
    await page.getByRole('button', { name: 'Models', exact: true }).click()
    await page.getByRole('heading', { name: 'Find a model' }).waitFor()
    await page.getByRole('button', { name: 'Back to chat' }).click()
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
  })

  test('a model is found, pulled, used and removed', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(daemon.url)
    await page.getByRole('button', { name: 'Models', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search models' }).fill('desert')
    await page.keyboard.press('Enter')
    await page.getByText('No models found for “desert”').waitFor()
    await page.getByRole('button', { name: 'Show all models' }).click()
    await page.getByText('Try other search terms, or publish a model in the registry.').waitFor()
    await page.getByRole('searchbox', { name: 'Search models' }).fill('tid')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Pull tide' }).click()
    const found = page.getByRole('region', { name: 'Find a model' })
    await found.getByRole('button', { name: 'Chat' }).click()
    await page.getByRole('heading', { name: 'Talk to tide' }).waitFor()
    expect(existsSync(join(daemon.folder, 'tide', 'tide-Q8_0.gguf'))).toBe(true)
    await page.getByLabel('Message', { exact: true }).fill('What is the capital of France?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor()

    await page.reload()
    await page.getByRole('button', { name: 'Models', exact: true }).click()
    await found.getByRole('button', { name: 'Chat' }).waitFor()
    expect(await found.getByRole('button', { name: 'Pull tide' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Remove tide' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove tide' }).waitFor({ state: 'detached' })
    expect(existsSync(join(daemon.folder, 'tide', 'tide-Q8_0.gguf'))).toBe(false)
    await page.getByRole('button', { name: 'Pull tide' }).waitFor()
    expect(takeProblems()).toEqual([])
  })

  test.each(looks)('accessible in the $theme theme at a width of $width pixels', async (look) => {
    await using visitor = await browser.newVisitor(look)
    const { page } = visitor
    const check = () => expectAccessible(page)
    await page.goto(linkTo(`http://${'a'.repeat(60)}.${'b'.repeat(60)}.example`))
    await untilAsked(page)
    await check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await check()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Models', exact: true }).click()
    await page.getByRole('button', { name: 'Pull tide' }).waitFor()
    await check()
  })
})
