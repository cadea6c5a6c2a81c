/** Tests with a real browser that unsaved changes to a model survive links, reloads and expired sessions. */
import type { ModelRecord } from '@shoal/protocol'
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
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('unsaved changes to a model', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let origin: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
  })
  afterAll(() => stack.disposeAsync())

  /** Opens the edit page of a new model as its owner, a new user. The model’s name contains the owner’s name. */
  async function newEditor(username: string, look?: Parameters<TestBrowser['newVisitor']>[0]) {
    const visitor = await browser.newVisitor(look)
    const { page, context } = visitor
    const { request } = context
    const account = { username, password: `password of ${username}` }
    await request.post(`${origin}/v1/auth/register`, { headers: { origin }, data: account })
    const model = { name: `reef-${username}`, display_name: 'Reef', description: 'Saved.' }
    await request.post(`${origin}/v1/models`, { headers: { origin }, data: model })
    await openEditor(page, model.name)
    return { ...visitor, name: model.name, account }
  }

  const openEditor = (page: Page, name: string) => openPage(page, `${origin}/m/${name}/edit`)

  const description = (page: Page) => page.getByLabel('Description')
  const warning = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' })
  const restored = (page: Page) => page.getByText('have been restored.')
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })

  async function readModel(name: string): Promise<ModelRecord> {
    const { body }: { body: ModelRecord } = await registry.get(`/v1/models/${name}`)
    return body
  }

  test('following a link asks first, and leaving keeps the changes as a draft', async () => {
    await using editor = await newEditor('ana')
    const { page, name } = editor
    await description(page).fill('Unsaved.')
    const link = page.getByRole('link', { name: 'Chat', exact: true })
    await link.click()
    await warning(page).waitFor()
    for (const { theme, width } of looks) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 860 })
      expect(await accessibilityProblems(page)).toEqual([])
    }
    await page.keyboard.press('Escape')
    await warning(page).waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname).toBe(`/m/${name}/edit`)
    expect(await description(page).inputValue()).toBe('Unsaved.')

    await page.setViewportSize({ width: 1360, height: 860 })
    await link.click()
    await page.getByRole('button', { name: 'Stay' }).click()
    await warning(page).waitFor({ state: 'hidden' })
    await link.click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(`${origin}/chat`)

    await openEditor(page, name)
    await restored(page).waitFor()
    expect(await description(page).inputValue()).toBe('Unsaved.')
    expect(await page.getByLabel('Display name').inputValue()).toBe('Reef')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await restored(page).waitFor({ state: 'detached' })
    expect(await description(page).inputValue()).toBe('Saved.')
    await link.click()
    await page.waitForURL(`${origin}/chat`)
    expect(editor.takeProblems()).toEqual([])
  })

  test('reloading or closing the page asks first, and the changes survive', async () => {
    await using editor = await newEditor('cleo')
    const { page, context, name } = editor
    await description(page).fill('Unsaved.')
    const reloading = page.waitForEvent('dialog')
    const reloaded = reloadPage(page)
    const question = await reloading
    expect(question.type()).toBe('beforeunload')
    await question.accept()
    await reloaded
    await restored(page).waitFor()
    await page.getByLabel('License').fill('mit')

    const closing = page.waitForEvent('dialog')
    await page.close({ runBeforeUnload: true })
    const closed = page.waitForEvent('close')
    await (await closing).accept()
    await closed
    const next = await context.newPage()
    await openEditor(next, name)
    expect(await description(next).inputValue()).toBe('Unsaved.')
    expect(await next.getByLabel('License').inputValue()).toBe('mit')
  })

  test('if the session has expired, the page says so next to the button, and signing in restores the changes', async () => {
    await using editor = await newEditor('fay', { height: 500 })
    const { page, context, name, account } = editor
    await description(page).fill('Unsaved.')
    await page.getByLabel('Model card').fill('# Reef\n\nLong text.')
    await context.clearCookies()
    await save(page).click()
    const problem = page.getByRole('alert').filter({ hasText: 'Your session has ended' })
    await problem.waitFor()
    const [message, button] = [await problem.boundingBox(), await save(page).boundingBox()]
    expect(message?.y).toBeGreaterThanOrEqual(0)
    expect((message?.y ?? 0) + (message?.height ?? 0)).toBeLessThanOrEqual(500)
    expect(Math.abs((message?.y ?? 0) - (button?.y ?? 0))).toBeLessThan(60)
    expect(await accessibilityProblems(page)).toEqual([])

    await page.getByRole('link', { name: 'Sign in to continue' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor() // the edit page also has a field “Username”
    await page.getByLabel('Username').fill(account.username)
    await page.getByLabel('Password', { exact: true }).fill(account.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(`${origin}/m/${name}/edit`)
    await restored(page).waitFor()
    expect(await page.getByLabel('Model card').inputValue()).toBe('# Reef\n\nLong text.')
    await save(page).click()
    await page.waitForURL(`${origin}/m/${name}`)
    expect(await readModel(name)).toMatchObject({
      display_name: 'Reef',
      description: 'Unsaved.',
      readme: '# Reef\n\nLong text.',
    })
    await openEditor(page, name)
    expect(await restored(page).count()).toBe(0)
  })
})
