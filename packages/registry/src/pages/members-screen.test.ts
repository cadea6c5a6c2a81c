/** Tests with a real browser how the owner of a model shares it, and what members see. */
import type { Member } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPage, type Page, startBrowser, type TestBrowser } from '../../../../testing/browser.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('the members of a model', () => {
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

  /** Creates a private model of `ana`, shared with the members. */
  async function newModel(name: string, members: Record<string, 'read' | 'write'> = {}) {
    const body = { name, display_name: name.toUpperCase(), is_public: false }
    expect((await registry.post('/v1/models', { token: ana, body })).status).toBe(201)
    for (const [username, right] of Object.entries(members)) {
      const path = `/v1/models/${name}/members/${username}`
      await registry.call('PUT', path, { token: ana, body: { right } })
    }
  }

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

  test('are added, changed and removed by the owner', async () => {
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

  test('can change the model with the right to write, but not its members, and can leave', async () => {
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
