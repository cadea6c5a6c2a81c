/** Tests the administration of accounts and invitations with real browsers. */
import type { CreatedInvitation, CreatedUser } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  openPage,
  type Page,
  startBrowser,
  type TestBrowser,
  type Visitor,
} from '../../../../testing/browser.ts'
import { expectUsable } from '../testing/expect-usable.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('administration in a browser', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let admin: string
  let origin: string

  beforeAll(async () => {
    registry = await startTestRegistry({ isRegistrationOpen: false, quotaBytes: 10_000_000 })
    stack.defer(() => registry.close())
    origin = `http://localhost:${registry.port}`
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
    admin = await registry.register('ana') // the first account is an administrator
  })
  afterAll(() => stack.disposeAsync())

  /** Opens a page as `ana`. */
  async function open(visitor: Visitor, path: string) {
    const data = { username: 'ana', password: 'password of ana' }
    const { context, page } = visitor
    const signedIn = await context.request.post(`${origin}/v1/auth/login`, {
      data,
      headers: { origin },
    })
    expect(signedIn.status()).toBe(200)
    await openPage(page, origin + path)
    return page
  }

  /** Creates an account, and returns its password. */
  async function add(username: string): Promise<string> {
    const body = { username, email: `${username}@example.org` }
    const created = await registry.post('/v1/admin/users', { token: admin, body })
    expect(created.status).toBe(201)
    return (created.body as CreatedUser).password
  }

  async function tokenOf(username: string, password: string): Promise<string> {
    const { body } = await registry.post('/v1/auth/login', { body: { username, password } })
    return (body as { access_token: string }).access_token
  }

  async function invite(): Promise<CreatedInvitation> {
    const created = await registry.post('/v1/admin/invitations', { token: admin, body: {} })
    return created.body as CreatedInvitation
  }

  const rowOf = (page: Page, username: string) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name: username, exact: true }) })

  /** Opens the dialog of an action on an account. */
  async function choose(page: Page, username: string, action: string) {
    await page.getByRole('button', { name: `Actions for ${username}`, exact: true }).click()
    await page.getByRole('button', { name: `${action} …`, exact: true }).click()
    return page.getByRole('dialog')
  }

  test('the forms, dialogs and errors of an administrator are accessible', async () => {
    const [eva, finn] = ['eva', 'finn']
    const evas = await tokenOf(eva, await add(eva))
    await registry.post('/v1/api-keys', { token: evas, body: { name: 'laptop' } })
    const finns = await tokenOf(finn, await add(finn))
    await publish(registry, finns, { name: 'reef' }, 'reef.gguf', smallGguf(1))
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin/invitations')
    await page.getByRole('button', { name: 'Invite someone' }).click()
    await page.getByLabel('Note (optional)').fill('Ben from the lab')
    await page.getByRole('button', { name: 'Create invitation' }).click()
    await page.getByRole('heading', { name: 'Invitation: Ben from the lab' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'open until' }).waitFor()
    await expectUsable(page)

    await page.getByRole('link', { name: 'Accounts' }).click()
    await page.getByRole('button', { name: 'Add account' }).click()
    await page.getByLabel('Username').fill('ana')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('The username ana is taken.').waitFor()
    await expectUsable(page)
    await page.getByRole('button', { name: 'Cancel' }).click()

    const keys = await choose(page, eva, 'API keys')
    await keys.getByRole('button', { name: 'Revoke laptop' }).waitFor()
    await expectUsable(page)
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Actions for eva')

    const removal = await choose(page, finn, 'Remove')
    await removal.getByLabel('Type finn to confirm').fill(finn)
    await removal.getByLabel('Transfer the model to another account').check()
    await removal.getByLabel('New owner').fill('nobody')
    await removal.getByRole('button', { name: 'Remove account' }).click()
    await removal.getByRole('alert').filter({ hasText: 'No user nobody.' }).waitFor()
    await expectUsable(page)
    await removal.getByLabel('New owner').fill('ana')
    await removal.getByRole('button', { name: 'Remove account' }).click()
    await rowOf(page, finn).waitFor({ state: 'detached' })
    const { body } = await registry.get('/v1/models/reef')
    expect(body).toMatchObject({ owner: 'ana' })

    const dialog = await choose(page, 'ana', 'Disable')
    await dialog.getByRole('button', { name: 'Disable account' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'last active administrator' }).waitFor()
    await expectUsable(page)

    await openPage(page, `${origin}/admin/status`)
    await page.getByText('Disk, available').waitFor()
    await expectUsable(page)
    await openPage(page, `${origin}/admin/audit?actor=nobody-here`)
    await page.getByText('No entries match the filter.').waitFor()
    await expectUsable(page)
  })

  test('an invitation that is no longer valid is reported', async () => {
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page } = visitor
    const { url, id } = await invite()
    await registry.call('DELETE', `/v1/admin/invitations/${id}`, { token: admin })
    await page.goto(url)
    await page.getByText('You have been invited to this registry.').waitFor()
    await expectUsable(page)
    await page.getByLabel('Username').fill('cleo')
    await page.getByLabel('Password', { exact: true }).fill('password of cleo')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').filter({ hasText: 'This invitation is not valid' }).waitFor()
    await expectUsable(page)
  })
})
