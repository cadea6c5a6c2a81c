// @vitest-environment happy-dom
import type { AdminUser, AuditEntry, Invitation, RegistryStatus } from '@shoal/protocol'
import { screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openScreen, type Visitor } from '../testing/open-screen.tsx'
import { makeAccount, makeKey, makeMe } from '../testing/samples.ts'
import { ok, problem, type Request, scriptedRegistry } from '../testing/scripted-registry.ts'

const ana = makeMe('ana', { is_admin: true, role: 'admin' })

/** A registry with these accounts, which `ana` can administer. Changes to an account are applied to the list. */
function adminRegistry(...others: AdminUser[]) {
  const users = [makeAccount('ana', { role: 'admin' }), ...others]
  const registry = scriptedRegistry({
    'GET /v1/auth/me': ok(ana),
    'GET /v1/admin/users': () => ({ status: 200, body: users }),
  })
  for (const user of users) {
    registry.answer(`PATCH /v1/admin/users/${user.username}`, ({ body }) => {
      Object.assign(user, body)
      return { status: 200, body: user }
    })
  }
  return { ...registry, users }
}

const rowOf = async (username: string) => {
  const link = await screen.findByRole('link', { name: username })
  return within(link.closest('tr') ?? link)
}

/** Opens the dialog of an action on an account. */
async function choose(user: Visitor, username: string, action: string) {
  await user.click(await screen.findByRole('button', { name: `Actions for ${username}` }))
  const row = await rowOf(username)
  await user.click(row.getByRole('button', { name: `${action} …` }))
  return within(await screen.findByRole('dialog'))
}

const untilClosed = () => waitFor(() => expect(screen.queryByRole('dialog')).toBe(null))

test('an invitation is created with a note, and its link is shown once', async () => {
  const registry = adminRegistry()
  const invitation: Invitation = {
    id: '1',
    note: 'Ben from the lab',
    role: 'user',
    created_by: 'ana',
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    used_at: null,
    used_by: null,
  }
  registry.answer('GET /v1/admin/invitations', ok([]))
  registry.answer('POST /v1/admin/invitations', () => {
    registry.answer('GET /v1/admin/invitations', ok([invitation]))
    const url = 'http://registry.test/register#invitation=shi_1'
    return { status: 201, body: { ...invitation, token: 'shi_1', url } }
  })
  const user = await openScreen('/admin/invitations', registry)
  await screen.findByText('No invitations yet.')
  await user.click(screen.getByRole('button', { name: 'Invite someone' }))
  const note = screen.getByLabelText('Note (optional)')
  expect(document.activeElement).toBe(note)
  await user.type(note, ' Ben from the lab ')
  await user.click(screen.getByRole('button', { name: 'Create invitation' }))
  await screen.findByRole('heading', { name: 'Invitation: Ben from the lab' })
  screen.getByRole('button', { name: 'Copy the link' })
  screen.getByText(/#invitation=shi_1/)
  await screen.findByText(/open until/)
  expect(registry.bodies('POST /v1/admin/invitations')).toEqual([
    { role: 'user', note: 'Ben from the lab' },
  ])
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(screen.queryByText(/#invitation=/)).toBe(null)
})

test('an invitation is revoked after a confirmation; a used one cannot be revoked', async () => {
  const registry = adminRegistry()
  const open = {
    id: '1',
    note: null,
    role: 'admin',
    created_by: null,
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    used_at: null,
    used_by: null,
  } satisfies Invitation
  const used = { ...open, id: '2', used_at: open.created_at, used_by: 'ben', note: 'For Ben' }
  const late = { ...open, id: '3', expires_at: '2026-01-01T00:00:00Z', note: 'Too late' }
  registry.answer('GET /v1/admin/invitations', ok([open, used, late]))
  const user = await openScreen('/admin/invitations', registry)
  const list = within(await screen.findByRole('list', { name: 'Invitations' }))
  list.getByText(/^used by ben/)
  list.getByText(/^expired on Jan 1, 2026/)
  const revoke = list.getAllByRole('button', { name: /^Revoke the invitation/ })
  expect(revoke).toHaveLength(1)
  await user.click(list.getByRole('button', { name: 'Revoke the invitation: Without a note' }))
  registry.answer('DELETE /v1/admin/invitations/1', () => {
    registry.answer('GET /v1/admin/invitations', ok([used]))
    return { status: 204 }
  })
  const dialog = within(screen.getByRole('dialog'))
  await user.click(dialog.getByRole('button', { name: 'Revoke invitation' }))
  await untilClosed()
  await waitFor(() => expect(list.queryByText('Without a note')).toBe(null))
})

test('an account is added, and its password can be reset', async () => {
  const registry = adminRegistry()
  const dora = makeAccount('dora')
  registry.answer('POST /v1/admin/users', problem(409, 'the username ana is taken'))
  const user = await openScreen('/admin', registry)
  await user.click(await screen.findByRole('button', { name: 'Add account' }))
  const username = screen.getByLabelText('Username')
  expect(document.activeElement).toBe(username)
  await user.type(username, 'ana')
  await user.click(screen.getByRole('button', { name: 'Create account' }))
  await screen.findByText('The username ana is taken.')
  expect(document.activeElement).toBe(username)
  expect(username.getAttribute('aria-invalid')).toBe('true')

  registry.answer('POST /v1/admin/users', () => {
    registry.users.push(dora)
    return { status: 201, body: { user: dora, password: 'first-secret' } }
  })
  await user.clear(username)
  await user.type(username, 'dora')
  await user.type(screen.getByLabelText('Email (optional)'), 'dora@example.org')
  await user.selectOptions(screen.getByLabelText('Role'), 'Administrator')
  await user.click(screen.getByRole('button', { name: 'Create account' }))
  await screen.findByRole('heading', { name: 'Password of dora' })
  expect(registry.bodies('POST /v1/admin/users').at(-1)).toEqual({
    username: 'dora',
    email: 'dora@example.org',
    role: 'admin',
  })
  const secret = () => document.querySelector('.panel code')?.textContent
  expect(secret()).toBe('first-secret')
  await rowOf('dora')
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(secret()).toBe(undefined)

  const reset = { password: 'second', sessions_ended: 1, keys_revoked: 0 }
  registry.answer('POST /v1/admin/users/dora/reset-password', ok(reset))
  const dialog = await choose(user, 'dora', 'Reset password')
  await user.click(dialog.getByRole('button', { name: 'Reset password' }))
  await screen.findByText('1 session ended, 0 API keys revoked.')
  expect(document.activeElement?.textContent).toContain('Password of dora')
  expect(secret()).toBe('second')
  await user.click(screen.getByRole('button', { name: 'Actions for ana' }))
  const own = await rowOf('ana')
  own.getByRole('link', { name: 'Change password' })
  expect(own.queryByRole('button', { name: 'Reset password …' })).toBe(null)
})

test('role and quota of an account are changed', async () => {
  const usage = {
    stored_bytes: 0,
    quota_bytes: 10_000_000,
    models_count: 0,
    api_keys_count: 1,
  }
  const registry = adminRegistry(makeAccount('eva', { usage }))
  const eva = registry.users[1]
  registry.answer('PATCH /v1/admin/users/eva', ({ body }) => {
    const { own_quota_bytes } = body as Partial<AdminUser>
    Object.assign(eva ?? {}, body)
    if (own_quota_bytes !== undefined) usage.quota_bytes = own_quota_bytes ?? 10_000_000
    return { status: 200, body: eva }
  })
  const user = await openScreen('/admin', registry)
  const row = await rowOf('eva')
  const shows = (cell: string) => waitFor(() => row.getByRole('cell', { name: cell }))
  await shows('0 B of 10.0 MB')

  const quota = await choose(user, 'eva', 'Quota')
  await user.type(quota.getByLabelText('Quota in GB'), '1.5{Enter}')
  await screen.findByText('The quota of eva is now 1.50 GB.')
  await shows('0 B of 1.50 GB (own quota)')
  const again = await choose(user, 'eva', 'Quota')
  const field = again.getByLabelText('Quota in GB')
  expect((field as HTMLInputElement).value).toBe('1.5')
  await user.clear(field)
  await user.type(field, '{Enter}')
  await shows('0 B of 10.0 MB')
  expect(registry.bodies('PATCH /v1/admin/users/eva')).toEqual([
    { own_quota_bytes: 1_500_000_000 },
    { own_quota_bytes: null },
  ])

  const up = await choose(user, 'eva', 'Change to administrator')
  await user.click(up.getByRole('button', { name: 'Change to administrator' }))
  await shows('Administrator')
  const down = await choose(user, 'eva', 'Change to user')
  await user.click(down.getByRole('button', { name: 'Change to user' }))
  await screen.findByText('eva is now a user.')
})

test('the API keys of an account are listed and revoked', async () => {
  const registry = adminRegistry(makeAccount('eva'))
  registry.answer('GET /v1/admin/users/eva/api-keys', ok([makeKey('laptop')]))
  registry.answer('DELETE /v1/admin/users/eva/api-keys/id%20of%20laptop', () => {
    registry.answer('GET /v1/admin/users/eva/api-keys', ok([]))
    return { status: 204 }
  })
  const user = await openScreen('/admin', registry)
  const keys = await choose(user, 'eva', 'API keys')
  await user.click(await keys.findByRole('button', { name: 'Revoke laptop' }))
  await user.click(screen.getByRole('button', { name: 'Revoke key' }))
  await keys.findByText('eva has no API keys.')
})

test('an account is removed only after a decision about its models', async () => {
  const usage = { stored_bytes: 1, quota_bytes: null, models_count: 1, api_keys_count: 0 }
  const registry = adminRegistry(
    makeAccount('finn', { usage }),
    makeAccount('gil', { disabled_at: '2026-03-02T00:00:00Z' }),
  )
  const user = await openScreen('/admin', registry)
  const dialog = await choose(user, 'finn', 'Remove')
  const confirm = dialog.getByRole('button', { name: 'Remove account' })
  await user.type(dialog.getByLabelText('Type finn to confirm'), 'finn')
  expect(confirm).toHaveProperty('disabled', true)
  await user.click(dialog.getByLabelText('Transfer the model to another account'))
  expect(confirm).toHaveProperty('disabled', true)
  const suggested = document.querySelectorAll('datalist option')
  expect([...suggested].map((one) => one.getAttribute('value'))).toEqual(['ana'])
  await user.type(dialog.getByLabelText('New owner'), 'nobody')
  registry.answer('DELETE /v1/admin/users/finn', problem(404, 'no user nobody'))
  await user.click(confirm)
  await dialog.findByText('No user nobody.')
  registry.answer('DELETE /v1/admin/users/finn', () => {
    registry.users.splice(1, 1)
    return { status: 204 }
  })
  await user.clear(dialog.getByLabelText('New owner'))
  await user.type(dialog.getByLabelText('New owner'), 'ana')
  await user.click(confirm)
  await screen.findByText('finn has been removed.')
  await waitFor(() => expect(screen.queryByRole('link', { name: 'finn' })).toBe(null))
  const sent = registry.requests.filter(({ method }) => method === 'DELETE')
  expect(sent.map(({ query }) => String(query))).toEqual(['give_to=nobody', 'give_to=ana'])
})

test('a dialog shows why an account cannot be changed, and can be canceled', async () => {
  const registry = adminRegistry()
  const refusal = 'ana is the last active administrator'
  registry.answer('PATCH /v1/admin/users/ana', problem(409, refusal))
  const user = await openScreen('/admin', registry)
  const tries = [
    ['Change to user', 'Change to user'],
    ['Disable', 'Disable account'],
  ] as const
  for (const [action, button] of tries) {
    const dialog = await choose(user, 'ana', action)
    await user.click(dialog.getByRole('button', { name: button }))
    await dialog.findByText(/^Ana is the last active administrator/)
    await user.click(dialog.getByRole('button', { name: 'Cancel' }))
    await untilClosed()
  }
})

test('while the registry is slow, placeholders are shown and a change is sent only once', async () => {
  const registry = adminRegistry(makeAccount('lou'))
  const list = Promise.withResolvers<void>()
  registry.answer('GET /v1/admin/users', async () => {
    await list.promise
    return { status: 200, body: registry.users }
  })
  const user = await openScreen('/admin', registry)
  await waitFor(() => expect(document.querySelector('[aria-busy="true"]')).not.toBe(null))
  list.resolve()
  const dialog = await choose(user, 'lou', 'Disable')
  dialog.getByText(/^lou can no longer sign in\./)
  const change = Promise.withResolvers<void>()
  registry.answer('PATCH /v1/admin/users/lou', async () => {
    await change.promise
    Object.assign(registry.users[1] ?? {}, { disabled_at: '2026-03-02T00:00:00Z' })
    return { status: 200, body: registry.users[1] }
  })
  const confirm = dialog.getByRole('button', { name: 'Disable account' })
  await user.click(confirm)
  await waitFor(() => expect(confirm).toHaveProperty('disabled', true))
  await user.click(confirm)
  change.resolve()
  await screen.findByText('lou is disabled.')
  expect(registry.bodies('PATCH /v1/admin/users/lou')).toEqual([{ is_disabled: true }])
  const row = await rowOf('lou')
  await waitFor(() => row.getByRole('cell', { name: 'Disabled' }))
})

test('an account that another admin has removed is reported as such', async () => {
  const registry = adminRegistry(makeAccount('mia'))
  const user = await openScreen('/admin', registry)
  const dialog = await choose(user, 'mia', 'Quota')
  registry.users.splice(1, 1)
  registry.answer('PATCH /v1/admin/users/mia', problem(404, 'no user mia'))
  await user.click(dialog.getByRole('button', { name: 'Save' }))
  await dialog.findByText('No user mia.')
  const link = () => screen.queryByRole('link', { name: 'mia' })
  await waitFor(() => expect(link()).toBe(null))
  screen.getByRole('dialog', { name: 'Quota of mia' })
})

test('if the session ends while the page is open, the page links to the sign-in page', async () => {
  const registry = adminRegistry(makeAccount('eva'))
  const user = await openScreen('/admin', registry)
  const dialog = await choose(user, 'eva', 'Quota')
  registry.answer('PATCH /v1/admin/users/eva', problem(401, 'sign in'))
  registry.answer('GET /v1/auth/me', problem(401, 'sign in'))
  await user.click(dialog.getByRole('button', { name: 'Save' }))
  await screen.findByText('Your session has ended. Sign in to continue.')
  const link = within(screen.getByRole('main')).getByRole('link', { name: 'Sign in' })
  expect(link.getAttribute('href')).toBe('/login?next=%2Fadmin')
})

test('an administrator who is demoted while the page is open can no longer see it', async () => {
  const registry = adminRegistry()
  const user = await openScreen('/admin', registry)
  const link = await screen.findByRole('link', { name: 'Audit log' })
  registry.answer('GET /v1/admin/audit', problem(403, 'administrators only'))
  registry.answer('GET /v1/auth/me', ok(makeMe('ana')))
  await user.click(link)
  await screen.findByRole('heading', { name: 'Page not found' })
})

test('for other users, the page does not exist; visitors without a session can sign in', async () => {
  const registry = scriptedRegistry({ 'GET /v1/auth/me': ok(makeMe('gil')) })
  await openScreen('/admin/audit', registry)
  await screen.findByRole('heading', { name: 'Page not found' })
  const closed = scriptedRegistry({ 'GET /v1/auth/me': problem(401, 'sign in') })
  await openScreen('/admin/audit?actor=ana', closed)
  const links = await screen.findAllByRole('link', { name: 'Sign in' })
  expect(links.at(-1)?.getAttribute('href')).toBe('/login?next=%2Fadmin%2Faudit%3Factor%3Dana')
})

test('the state of the store and of the queue is shown, or an error if it cannot be loaded', async () => {
  const status: RegistryStatus = {
    database: 'sqlite',
    store: {
      kind: 'disk',
      is_available: true,
      stored_bytes: 0,
      free_bytes: 9_000_000_000,
      reserve_bytes: 1_000_000_000,
      awaited_bytes: 0,
    },
    processing: { waiting: 0, running: 0, oldest_at: null },
    uploads: 0,
    failed_files: 2,
  }
  const registry = adminRegistry()
  registry.answer('GET /v1/admin/status', problem(403, 'not now'))
  const user = await openScreen('/admin/status', registry)
  await screen.findByText('Not now.')
  registry.answer('GET /v1/admin/status', ok(status))
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await screen.findByText('Disk, available')
  const facts = screen.getAllByRole('definition').map(({ textContent }) => textContent)
  expect(facts).toEqual([
    'SQLite',
    'Disk, available',
    '0 B',
    '9.00 GB, of which 1.00 GB must stay free and 0 B is reserved for open uploads',
    '0',
    'No files are waiting',
    '2',
  ])
})

test('accounts are found by name and email', async () => {
  const registry = adminRegistry(makeAccount('jo', { email: 'Jo@example.org' }))
  const user = await openScreen('/admin', registry)
  await screen.findByText('2 accounts')
  await user.type(screen.getByLabelText('Find accounts'), 'JO@')
  await screen.findByText('1 account')
  await rowOf('jo')
  await user.type(screen.getByLabelText('Find accounts'), 'nobody')
  await screen.findByText('No account matches “JO@nobody”.')
})

/** Answers requests for the audit log, which has `count` entries, newest first. */
function auditLog(count: number) {
  const entries = Array.from({ length: count }, (_, index): AuditEntry => {
    const seq = count - index
    return {
      seq,
      at: '2026-03-01T09:00:00Z',
      action: seq % 2 === 0 ? 'key.created' : 'account.disabled',
      actor: seq % 2 === 0 ? 'jo' : 'ana',
      credential: 'host',
      address: null,
      subject_kind: 'user',
      subject: `subject ${seq}`,
      detail: { name: `key ${seq}` },
    }
  })
  return ({ query }: Request) => {
    const before = Number(query.get('before') ?? Number.POSITIVE_INFINITY)
    const [actor, action, subject] = ['actor', 'action', 'subject'].map((name) => query.get(name))
    const found = entries.filter(
      (one) =>
        one.seq < before &&
        (actor === null || one.actor === actor) &&
        (action === null || one.action === action) &&
        (subject === null || one.subject === subject),
    )
    return { status: 200, body: found.slice(0, Number(query.get('limit'))) }
  }
}

test('a button loads older audit entries', async () => {
  const registry = adminRegistry()
  registry.answer('GET /v1/admin/audit', auditLog(110))
  const user = await openScreen('/admin/audit?actor=jo&action=key.created', registry)
  await screen.findByText('Entries shown: 50')
  await user.click(screen.getByRole('button', { name: 'Show older entries' }))
  await screen.findByText('Entries shown: 55')
  screen.getByText(/name: key 2$/)
  expect(screen.queryByRole('button', { name: 'Show older entries' })).toBe(null)
})

test('the filter of the audit log is part of the address, and going back restores its fields', async () => {
  const registry = adminRegistry()
  registry.answer('GET /v1/admin/audit', auditLog(4))
  const user = await openScreen('/admin/audit', registry)
  await screen.findByText('Entries shown: 4')
  const [actor, subject] = [screen.getByLabelText('Actor'), screen.getByLabelText('Subject')]
  await user.selectOptions(screen.getByLabelText('Action'), 'account.disabled')
  await user.type(subject, 'subject 3{Enter}')
  await screen.findByText('Entries shown: 1')
  const entries = within(screen.getByRole('list', { name: 'Entries, newest first' }))
  expect(entries.getByRole('listitem').textContent).toContain('ana disabled the account subject 3')
  expect(location.search).toBe('?action=account.disabled&subject=subject+3')
  history.back()
  await screen.findByText('Entries shown: 4')
  await waitFor(() => expect((subject as HTMLInputElement).value).toBe(''))

  await user.type(actor, 'nobody-here')
  await user.click(screen.getByRole('button', { name: 'Filter' }))
  await screen.findByText('No entries match the filter.')
  await user.click(screen.getByRole('button', { name: 'Clear' }))
  await screen.findByText('Entries shown: 4')
  expect(document.activeElement).toBe(actor)
  expect((actor as HTMLInputElement).value).toBe('')
})
