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

  /** Opens a page as `ana`, or as another account with its password. */
  async function open(visitor: Visitor, path: string, username = 'ana', password?: string) {
    const data = { username, password: password ?? `password of ${username}` }
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

  const entriesOf = (page: Page) => page.getByRole('list', { name: 'Entries, newest first' })

  /** Opens the dialog of an action on an account. */
  async function choose(page: Page, username: string, action: string) {
    await page.getByRole('button', { name: `Actions for ${username}`, exact: true }).click()
    await page.getByRole('button', { name: `${action} …`, exact: true }).click()
    return page.getByRole('dialog')
  }

  async function register(page: Page, username: string) {
    await page.getByLabel('Username').fill(username)
    await page.getByLabel('Password', { exact: true }).fill(`password of ${username}`)
    await page.getByRole('button', { name: 'Create account' }).click()
  }

  test('an administrator invites somebody to a closed registry, and disables the new account', async () => {
    await using anas = await browser.newVisitor({ reducedMotion: 'reduce' })
    await using bens = await browser.newVisitor({ reducedMotion: 'reduce' })
    const [page, guest] = [await open(anas, '/'), bens.page]
    await page.getByRole('button', { name: 'Signed in as ana' }).click()
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByRole('link', { name: 'Invitations' }).click()
    await page.getByText('No invitations yet.').waitFor()
    await page.getByRole('button', { name: 'Invite someone' }).click()
    await page.getByLabel('Note (optional)').fill('Ben from the lab')
    await page.getByRole('button', { name: 'Create invitation' }).click()
    await page.getByRole('heading', { name: 'Invitation: Ben from the lab' }).waitFor()
    await page.getByRole('button', { name: 'Copy the link' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'open until' }).waitFor()
    await expectUsable(page)
    const link = await page.getByText(/#invitation=/).textContent()

    await guest.goto(link ?? '')
    await guest.getByText('You have been invited to this registry.').waitFor()
    await guest.waitForURL(`${origin}/register`)
    expect(await guest.evaluate('location.hash')).toBe('')
    await guest.reload()
    await guest.getByText('You have been invited to this registry.').waitFor()
    await expectUsable(guest)
    await register(guest, 'ben')
    await guest.getByRole('button', { name: 'Signed in as ben' }).waitFor()
    expect(guest.url()).toBe(`${origin}/`)
    await guest.getByRole('button', { name: 'Signed in as ben' }).click()
    await guest.getByRole('link', { name: 'Settings' }).waitFor()
    expect(await guest.getByRole('link', { name: 'Administration' }).count()).toBe(0)

    await page.setViewportSize({ width: 1360, height: 860 })
    await page.getByRole('link', { name: 'Accounts' }).click()
    const dialog = await choose(page, 'ben', 'Disable')
    await dialog.getByText('ben can no longer sign in.').waitFor()
    await dialog.getByRole('button', { name: 'Disable account' }).click()
    await page.getByText('ben is disabled.').waitFor()
    await rowOf(page, 'ben').getByRole('cell', { name: 'Disabled' }).waitFor()

    await openPage(guest, `${origin}/settings/profile`)
    await guest.getByText('Sign in to see this page.').waitFor()
    await guest.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await guest.getByLabel('Username').fill('ben')
    await guest.getByLabel('Password', { exact: true }).fill('password of ben')
    await guest.getByRole('button', { name: 'Sign in', exact: true }).click()
    await guest.getByRole('alert').filter({ hasText: 'This account is disabled' }).waitFor()

    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByText('ana disabled the account ben').waitFor()
    await page.getByText('ben created the account ben').waitFor()
    await page.getByText('note: Ben from the lab').waitFor()
    await page.getByLabel('Action').selectOption('account.disabled')
    await page.getByLabel('Subject').fill('ben')
    await page.keyboard.press('Enter')
    await page.getByText('Entries shown: 1').waitFor()
    await entriesOf(page).getByText('ana disabled the account ben').waitFor()
    expect(await entriesOf(page).getByRole('listitem').count()).toBe(1)
    expect(new URL(page.url()).search).toBe('?action=account.disabled&subject=ben')
    await page.goBack()
    await page.getByText('ben created the account ben').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('')
  })

  test('the forms, dialogs and errors of an administrator are accessible', async () => {
    const [eva, finn] = ['eva', 'finn']
    const evas = await tokenOf(eva, await add(eva))
    await registry.post('/v1/api-keys', { token: evas, body: { name: 'laptop' } })
    const finns = await tokenOf(finn, await add(finn))
    await publish(registry, finns, { name: 'reef' }, 'reef.gguf', smallGguf(1))
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    const check = async () => {
      await expectUsable(page)
      await page.setViewportSize({ width: 1360, height: 860 })
    }
    await page.getByRole('button', { name: 'Add account' }).click()
    await page.getByLabel('Username').fill('ana')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('The username ana is taken.').waitFor()
    await check()
    await page.getByRole('button', { name: 'Cancel' }).click()

    const keys = await choose(page, eva, 'API keys')
    await keys.getByRole('button', { name: 'Revoke laptop' }).waitFor()
    await check()
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Actions for eva')

    const removal = await choose(page, finn, 'Remove')
    await removal.getByLabel('Type finn to confirm').fill(finn)
    await removal.getByLabel('Transfer the model to another account').check()
    await removal.getByLabel('New owner').fill('nobody')
    await removal.getByRole('button', { name: 'Remove account' }).click()
    await removal.getByRole('alert').filter({ hasText: 'No user nobody.' }).waitFor()
    await check()
    await removal.getByLabel('New owner').fill('ana')
    await removal.getByRole('button', { name: 'Remove account' }).click()
    await rowOf(page, finn).waitFor({ state: 'detached' })
    const { body } = await registry.get('/v1/models/reef')
    expect(body).toMatchObject({ owner: 'ana' })

    const dialog = await choose(page, 'ana', 'Disable')
    await dialog.getByRole('button', { name: 'Disable account' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'last active administrator' }).waitFor()
    await check()

    await openPage(page, `${origin}/admin/status`)
    await page.getByText('Disk, available').waitFor()
    await check()
    await openPage(page, `${origin}/admin/audit?actor=nobody-here`)
    await page.getByText('No entries match the filter.').waitFor()
    await check()
  })

  test('an invitation that is no longer valid is reported', async () => {
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page } = visitor
    const { url, id } = await invite()
    await registry.call('DELETE', `/v1/admin/invitations/${id}`, { token: admin })
    await page.goto(url)
    await register(page, 'cleo')
    await page.getByRole('alert').filter({ hasText: 'This invitation is not valid' }).waitFor()
    await expectUsable(page)
  })
})
