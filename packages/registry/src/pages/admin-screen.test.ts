/** Tests the administration of accounts and invitations with real browsers. */
import type { AdminUser, CreatedApiKey, CreatedInvitation, CreatedUser } from '@shoal/protocol'
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

  const getUser = async (username: string) =>
    (await registry.get(`/v1/admin/users/${username}`, { token: admin })).body as AdminUser

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

  test('an invitation that is no longer valid is reported', async () => {
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page } = visitor
    const { url, id } = await invite()
    await registry.call('DELETE', `/v1/admin/invitations/${id}`, { token: admin })
    for (const link of [url, `${url}${'x'.repeat(100)}`]) {
      await page.goto(link)
      await register(page, 'cleo')
      const alert = page.getByRole('alert').filter({ hasText: 'This invitation is not valid' })
      await alert.waitFor()
      expect(await page.getByLabel('Username').inputValue()).toBe('cleo')
      await expectUsable(page)
      await page.goto('about:blank') // only the fragment differs, so `goto` would not reload the page
    }
    await page.goto(url)
    await register(page, 'cleo')
    await page.getByRole('link', { name: 'register without an invitation' }).click()
    await page.getByText('You have been invited').waitFor({ state: 'detached' })
    await register(page, 'cleo')
    await page
      .getByRole('alert')
      .filter({ hasText: /closed/i })
      .waitFor()
  })

  test('an invitation is revoked', async () => {
    const { token } = await invite()
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin/invitations')
    await page
      .getByRole('button', { name: /^Revoke the invitation/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Revoke invitation' }).click()
    await dialog.waitFor({ state: 'detached' })
    const body = { username: 'late', password: 'a long password', invitation: token }
    expect((await registry.post('/v1/auth/register', { body })).status).toBe(403)
  })

  test('an account is added, and its password can be reset', async () => {
    await using anas = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(anas, '/admin')
    await page.getByRole('button', { name: 'Add account' }).click()
    await page.getByLabel('Username').fill('ana')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('The username ana is taken.').waitFor()
    await page.getByLabel('Username').fill('dora')
    await expectUsable(page)
    await page.setViewportSize({ width: 1360, height: 860 })
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Password of dora' }).waitFor()
    const first = await shownSecret(page)
    await tokenOf('dora', first)
    await rowOf(page, 'dora').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.getByText(first).count()).toBe(0)

    const dialog = await choose(page, 'dora', 'Reset password')
    await dialog.getByRole('button', { name: 'Reset password' }).click()
    await page.getByText('1 session ended, 0 API keys revoked.').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Password of dora')
    const second = await shownSecret(page)
    expect(second).not.toBe(first)
    await using doras = await browser.newVisitor()
    await open(doras, '/', 'dora', second)
    await page.getByRole('button', { name: 'Actions for ana' }).click()
    await page.getByRole('link', { name: 'Change password' }).waitFor()
    expect(await page.getByRole('button', { name: 'Reset password …' }).isVisible()).toBe(false)
  })

  const shownSecret = async (page: Page) =>
    (await page.locator('.panel code').first().textContent()) ?? ''

  test('role, quota and API keys of an account are changed', async () => {
    const token = await tokenOf('eva', await add('eva'))
    const made = await registry.post('/v1/api-keys', { token, body: { name: 'laptop' } })
    const { key } = made.body as CreatedApiKey
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    await rowOf(page, 'eva').getByRole('cell', { name: '0 B of 10.0 MB' }).waitFor()

    const quota = await choose(page, 'eva', 'Quota')
    await quota.getByLabel('Quota in GB').fill('1.5')
    await page.keyboard.press('Enter')
    await page.getByText('The quota of eva is now 1.50 GB.').waitFor()
    await rowOf(page, 'eva').getByRole('cell', { name: 'of 1.50 GB (own quota)' }).waitFor()
    await choose(page, 'eva', 'Quota')
    expect(await quota.getByLabel('Quota in GB').inputValue()).toBe('1.5')
    await quota.getByLabel('Quota in GB').fill('')
    await page.keyboard.press('Enter')
    await rowOf(page, 'eva').getByRole('cell', { name: 'of 10.0 MB' }).waitFor()
    expect((await getUser('eva')).own_quota_bytes).toBeNull()

    const role = await choose(page, 'eva', 'Change to administrator')
    await role.getByRole('button', { name: 'Change to administrator' }).click()
    await rowOf(page, 'eva').getByRole('cell', { name: 'Administrator' }).waitFor()
    await choose(page, 'eva', 'Change to user')
    await role.getByRole('button', { name: 'Change to user' }).click()
    await page.getByText('eva is now a user.').waitFor()

    const keys = await choose(page, 'eva', 'API keys')
    await keys.getByRole('button', { name: 'Revoke laptop' }).waitFor()
    await expectUsable(page)
    await page.setViewportSize({ width: 1360, height: 860 })
    await keys.getByRole('button', { name: 'Revoke laptop' }).click()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await keys.getByText('eva has no API keys.').waitFor()
    expect((await registry.get('/v1/auth/me', { token: key })).status).toBe(401)
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Actions for eva')
  })

  test('an account is removed after a decision about its models', async () => {
    const token = await tokenOf('finn', await add('finn'))
    await publish(registry, token, { name: 'reef' }, 'reef.gguf', smallGguf(1))
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    const dialog = await choose(page, 'finn', 'Remove')
    const confirm = dialog.getByRole('button', { name: 'Remove account' })
    await dialog.getByLabel('Type finn to confirm').fill('finn')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Transfer the model to another account').check()
    await dialog.getByLabel('New owner').fill('nobody')
    await confirm.click()
    await dialog.getByRole('alert').filter({ hasText: 'No user nobody.' }).waitFor()
    await expectUsable(page)
    await page.setViewportSize({ width: 1360, height: 860 })
    await dialog.getByLabel('New owner').fill('ana')
    await confirm.click()
    await page.getByText('finn has been removed.').waitFor()
    await rowOf(page, 'finn').waitFor({ state: 'detached' })
    const { body } = await registry.get('/v1/models/reef')
    expect(body).toMatchObject({ owner: 'ana' })
  })

  test('the last admin cannot be demoted, disabled or removed, and the dialog says why', async () => {
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    const tries = [
      ['Change to user', 'Change to user'],
      ['Disable', 'Disable account'],
    ] as const
    for (const [action, button] of tries) {
      const dialog = await choose(page, 'ana', action)
      await dialog.getByRole('button', { name: button }).click()
      const alert = dialog.getByRole('alert').filter({ hasText: 'last active administrator' })
      await alert.waitFor()
      await expectUsable(page)
      await page.setViewportSize({ width: 1360, height: 860 })
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    expect(await getUser('ana')).toMatchObject({ role: 'admin', disabled_at: null })
  })

  test('while the registry is slow, placeholders are shown and a change is sent only once', async () => {
    await add('lou')
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const { page } = visitor
    const held = Promise.withResolvers<void>()
    await page.route(/\/v1\/admin\/users$/, (route) => held.promise.then(() => route.continue()))
    await open(visitor, '/login')
    await page.goto(`${origin}/admin`)
    await page.locator('[aria-busy="true"]').waitFor()
    await expectUsable(page)
    await page.setViewportSize({ width: 1360, height: 860 })
    held.resolve()
    const heldChange = Promise.withResolvers<void>()
    const sent: string[] = []
    await page.route(/\/v1\/admin\/users\/lou$/, async (route) => {
      sent.push(route.request().method())
      await heldChange.promise
      await route.continue()
    })
    const dialog = await choose(page, 'lou', 'Disable')
    const confirm = dialog.getByRole('button', { name: 'Disable account' })
    await confirm.click()
    await page.waitForFunction("document.querySelector('dialog [type=submit]').disabled")
    heldChange.resolve()
    await page.getByText('lou is disabled.').waitFor()
    expect(sent).toEqual(['PATCH'])
  })

  test('an account that another admin has removed is reported as such', async () => {
    await add('mia')
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    const dialog = await choose(page, 'mia', 'Quota')
    await registry.call('DELETE', '/v1/admin/users/mia', { token: admin })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'No user mia.' }).waitFor()
    await rowOf(page, 'mia').waitFor({ state: 'detached' })
    expect(await dialog.isVisible()).toBe(true)
  })

  test('for other users, the page does not exist; visitors without a session can sign in', async () => {
    const password = await add('gil')
    await using gils = await browser.newVisitor()
    const page = await open(gils, '/admin/audit', 'gil', password)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    const answer = await page.goto(`${origin}/admin`)
    expect(answer?.status()).toBe(404)

    await using visitor = await browser.newVisitor()
    await openPage(visitor.page, `${origin}/admin/audit?actor=ana`)
    await visitor.page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await visitor.page.getByLabel('Username').fill('ana')
    await visitor.page.getByLabel('Password', { exact: true }).fill('password of ana')
    await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await entriesOf(visitor.page).waitFor()
    expect(visitor.page.url()).toBe(`${origin}/admin/audit?actor=ana`)
  })

  test('if the session ends while the page is open, the page links to the sign-in page', async () => {
    const password = await add('hal')
    await registry.call('PATCH', '/v1/admin/users/hal', { token: admin, body: { role: 'admin' } })
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin', 'hal', password)
    const dialog = await choose(page, 'ana', 'Quota')
    await registry.call('PATCH', '/v1/admin/users/hal', {
      token: admin,
      body: { is_disabled: true },
    })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your session has ended. Sign in to continue.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await page.waitForURL(`${origin}/login?next=%2Fadmin`)
  })

  test('an administrator who is demoted while the page is open can no longer see it', async () => {
    const password = await add('ivy')
    await registry.call('PATCH', '/v1/admin/users/ivy', { token: admin, body: { role: 'admin' } })
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin', 'ivy', password)
    await registry.call('PATCH', '/v1/admin/users/ivy', { token: admin, body: { role: 'user' } })
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })

  test('the state of the store and of the queue is shown, or an error if it cannot be loaded', async () => {
    await using visitor = await browser.newVisitor()
    const page = await open(visitor, '/admin/status')
    const fact = (name: string) =>
      page
        .locator('dl > div')
        .filter({ has: page.getByText(name, { exact: true }) })
        .getByRole('definition')
        .textContent()
    expect(await fact('Store')).toBe('Disk, available')
    expect(await fact('Free space')).toContain('must stay free')
    expect(await fact('Processing')).toBe('No files are waiting')
    await expectUsable(page)
    await page.route('**/v1/admin/status', (route) =>
      route.fulfill({ status: 403, json: { detail: 'not now' } }),
    )
    await page.reload()
    await page.getByText('Not now.').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Disk, available').waitFor()
  })

  test('accounts are found by name, and a button loads older audit entries', async () => {
    const token = await tokenOf('jo', await add('jo'))
    for (let count = 0; count < 55; count += 1) {
      const made = await registry.post('/v1/api-keys', { token, body: { name: `key ${count}` } })
      const { id } = made.body as CreatedApiKey
      await registry.call('DELETE', `/v1/api-keys/${id}`, { token })
    }
    await using visitor = await browser.newVisitor({ reducedMotion: 'reduce' })
    const page = await open(visitor, '/admin')
    await page.getByLabel('Find accounts').fill('JO@')
    await page.getByText('1 account', { exact: true }).waitFor()
    await rowOf(page, 'jo').waitFor()
    await page.getByLabel('Find accounts').fill('nobody')
    await page.getByText('No account matches “nobody”.').waitFor()

    await openPage(page, `${origin}/admin/audit?actor=jo&action=key.created`)
    await page.getByText('Entries shown: 50').waitFor()
    await page.getByRole('button', { name: 'Show older entries' }).click()
    await page.getByText('Entries shown: 55').waitFor()
    await page.getByText('name: key 0,').waitFor()
    expect(await page.getByRole('button', { name: 'Show older entries' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('Entries shown: 50').waitFor()
    await page.getByLabel('Actor').fill('nobody-here')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('No entries match the filter.').waitFor()
    await expectUsable(page)
  })

  test('the settings page shows how much of its quota the account uses', async () => {
    const password = await add('kim')
    const token = await tokenOf('kim', password)
    await using visitor = await browser.newVisitor()
    const page = await open(visitor, '/settings', 'kim', password)
    await page.getByText('0 B of 10.0 MB used').waitFor()
    await publish(registry, token, { name: 'kelp' }, 'kelp.gguf', smallGguf(5, 20_000))
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText(/^[\d.]+ KB of 10\.0 MB used$/).waitFor()
  })
})
