/**
 * Tests with a real browser that unsaved changes to a model survive links, reloads and expired sessions, and how the owner
 * of a model shares it.
 */
import type { Member, ModelRecord } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  openPage,
  type Page,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('the edit page', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let origin: string
  let ana: string

  beforeAll(async () => {
    registry = await startTestRegistry()
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
    await registry.register('admin')
    ana = await registry.register('ana')
    for (const username of ['ben', 'cleo']) await registry.register(username)
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
    await using editor = await newEditor('dora')
    const { page, name } = editor
    await description(page).fill('Unsaved.')
    const link = page.getByRole('link', { name: 'Chat', exact: true })
    await link.click()
    await warning(page).waitFor()
    await expectUsable(page)
    await page.keyboard.press('Escape')
    await warning(page).waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname).toBe(`/m/${name}/edit`)
    expect(await description(page).inputValue()).toBe('Unsaved.')

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
    await expectUsable(page)
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await restored(page).waitFor({ state: 'detached' })
    expect(await description(page).inputValue()).toBe('Saved.')
    await link.click()
    await page.waitForURL(`${origin}/chat`)
    expect(editor.takeProblems()).toEqual([])
  })

  test('reloading or closing the page asks first, and the changes survive', async () => {
    await using editor = await newEditor('eva')
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
    await expectUsable(page)

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

  /** Creates a private model of `ana`, shared with the members. */
  async function newModel(name: string, members: Record<string, 'read' | 'write'> = {}) {
    const body = { name, display_name: name.toUpperCase(), is_public: false }
    expect((await registry.post('/v1/models', { token: ana, body })).status).toBe(201)
    for (const [username, right] of Object.entries(members)) {
      const path = `/v1/models/${name}/members/${username}`
      await registry.call('PUT', path, { token: ana, body: { right } })
    }
  }

  /** Opens a page as a user. */
  async function open(username: string, path: string) {
    const visitor = await browser.newVisitor()
    const data = { username, password: `password of ${username}` }
    await visitor.context.request.post(`${origin}/v1/auth/login`, { data, headers: { origin } })
    await openPage(visitor.page, origin + path)
    return visitor
  }

  const rights = async (name: string) =>
    ((await registry.get(`/v1/models/${name}/members`, { token: ana })).body as Member[]).map(
      ({ username, right }) => `${username} ${right}`,
    )

  const section = (page: Page) => page.getByRole('region', { name: 'Members' })
  const says = (page: Page, text: string) => section(page).getByText(text).first().waitFor()

  async function add(page: Page, username: string, right: string) {
    const form = page.getByRole('form', { name: 'Add a member' })
    await form.getByLabel('Username').fill(username)
    await form.getByLabel('Right').selectOption(right)
    await form.getByRole('button', { name: 'Add' }).click()
  }

  test('members are added, changed and removed by the owner', async () => {
    await newModel('reef')
    await using visitor = await open('ana', '/m/reef/edit')
    const { page } = visitor
    await says(page, 'The model is not shared with anyone.')
    await expectUsable(page)

    await add(page, 'nobody', 'read')
    await says(page, 'No user nobody.')
    await add(page, 'ana', 'read')
    await says(page, 'Ana owns reef.')
    await add(page, ' Ben ', 'read')
    await says(page, 'ben can now read.')
    await add(page, 'cleo', 'write')
    await says(page, 'cleo can now write.')
    expect(await rights('reef')).toEqual(['ben read', 'cleo write'])
    await expectUsable(page)

    await section(page).getByLabel('Right of ben').selectOption('write')
    await says(page, 'ben can now write.')
    await section(page).getByRole('button', { name: 'Remove cleo' }).click()
    await page.getByRole('button', { name: 'Remove member' }).click()
    await says(page, 'cleo is no longer a member.')
    expect(await rights('reef')).toEqual(['ben write'])
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Members')
  })

  test('a member can change the model with the right to write, but not its members, and can leave', async () => {
    await newModel('kelp', { ben: 'write', cleo: 'read' })
    await using visitor = await open('ben', '/m/kelp')
    const { page } = visitor
    await page.getByRole('link', { name: 'Edit' }).click()
    await says(page, 'Only ana and administrators can add or remove members.')
    await says(page, 'Can write')
    await expectUsable(page)
    expect(await page.getByRole('form', { name: 'Add a member' }).count()).toBe(0)
    expect(await section(page).getByRole('combobox').count()).toBe(0)
    expect(await section(page).getByRole('button', { name: 'Remove' }).count()).toBe(0)
    await page.getByLabel('Description').fill('by ben')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('by ben').first().waitFor()

    await page.getByRole('link', { name: 'Edit' }).click()
    await section(page).getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(`${origin}/`)
    expect(await rights('kelp')).toEqual(['cleo read'])
  })
})
