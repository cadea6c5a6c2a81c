// @vitest-environment happy-dom
import type { NewApiKey, Session } from '@shoal/protocol'
import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { changedPrefs } from '../prefs.ts'
import { openScreen } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeKey, makeMe } from '../testing/samples.ts'
import { ok, problem } from '../testing/scripted-registry.ts'

afterEach(() => {
  changedPrefs.set({})
  delete document.documentElement.dataset.theme
})

const field = (label: string | RegExp) => screen.getByLabelText<HTMLInputElement>(label)

test('visitors without a session can sign in and return', async () => {
  await openScreen('/settings/keys', publicRegistry({ isAnonymous: true }))
  await screen.findByText('Sign in to see this page.')
  const links = screen.getAllByRole('link', { name: 'Sign in' })
  expect(links.at(-1)?.getAttribute('href')).toBe('/login?next=%2Fsettings%2Fkeys')
})

test('if the session is ended elsewhere, the page says so, and keeps what was typed', async () => {
  const registry = publicRegistry()
  const user = await openScreen('/settings/keys', registry)
  await user.click(await screen.findByRole('button', { name: 'New key' }))
  await user.type(field('Name'), 'laptop')
  registry.answer('GET /v1/auth/me', problem(401, 'sign in'))
  registry.answer('POST /v1/api-keys', problem(401, 'this request requires a session token'))
  await user.click(screen.getByRole('button', { name: 'Create key' }))
  await screen.findByText(/^Your session has ended, so nothing was changed\./)
  await screen.findByText(/^Your session has ended\. What you have typed on this page is kept\./)
  screen.getByRole('link', { name: 'Sign in' })
  expect(field('Name').value).toBe('laptop')
})

test('the profile shows how much of its quota the account uses, even after a change', async () => {
  const registry = publicRegistry()
  const usage = { stored_bytes: 0, quota_bytes: 10_000_000, models_count: 0, api_keys_count: 2 }
  registry.answer('GET /v1/auth/me', () => ({ status: 200, body: makeMe('kim', { usage }) }))
  const user = await openScreen('/settings', registry)
  await screen.findByText('0 B of 10.0 MB used')
  usage.stored_bytes = 20_000
  await user.click(screen.getByRole('link', { name: 'Sessions' }))
  await screen.findByText(/^The browsers and programs/)
  await user.click(screen.getByRole('link', { name: 'Profile' }))
  await screen.findByText('20.0 KB of 10.0 MB used')
})

test('the password is changed; a wrong current and a short new password are marked', async () => {
  const registry = publicRegistry()
  const change = 'PUT /v1/auth/password'
  registry.answer(change, problem(403, 'the current password is wrong'))
  const user = await openScreen('/settings', registry)
  const submit = () => user.click(screen.getByRole('button', { name: 'Change password' }))
  await user.type(await screen.findByLabelText('Current password'), 'old password')
  await user.type(field('New password'), 'new password')
  await submit()
  await screen.findByText('The current password is wrong.')
  expect(document.activeElement).toBe(field('Current password'))
  const errors = [{ path: '/new_password', message: 'has at least 8 bytes' }]
  registry.answer(change, problem(422, 'invalid', { errors }))
  await submit()
  await screen.findByText('Has at least 8 bytes.')
  expect(document.activeElement).toBe(field('New password'))
  expect(screen.queryByText('The current password is wrong.')).toBe(null)
  registry.answer(change, () => ({ status: 204 }))
  await submit()
  await screen.findByText('Password changed.')
  expect(field('New password').value).toBe('')
  expect(registry.bodies(change).at(-1)).toEqual({
    current_password: 'old password',
    new_password: 'new password',
  })
})

test('a password can be shown', async () => {
  const user = await openScreen('/settings', publicRegistry())
  const [show] = await screen.findAllByRole('button', { name: 'Show the password' })
  expect(field('Current password').type).toBe('password')
  await user.click(show ?? document.body)
  expect(field('Current password').type).toBe('text')
  await user.click(screen.getByRole('button', { name: 'Hide the password' }))
  expect(field('Current password').type).toBe('password')
})

test('an API key is created, shown once, and revoked', async () => {
  const registry = publicRegistry()
  const create = 'POST /v1/api-keys'
  const errors = [{ path: '/name', message: 'must not be blank' }]
  registry.answer(create, problem(422, 'invalid', { errors }))
  const user = await openScreen('/settings/keys', registry)
  await screen.findByText('No keys yet.')
  await user.click(screen.getByRole('button', { name: 'New key' }))
  expect(document.activeElement).toBe(field('Name'))
  await user.type(field('Name'), ' ')
  await user.click(screen.getByRole('button', { name: 'Create key' }))
  await screen.findByText('Must not be blank.')
  expect(document.activeElement).toBe(field('Name'))

  const key = makeKey('laptop', { expires_at: '2126-03-01T09:00:00Z' })
  registry.answer(create, () => {
    registry.answer('GET /v1/api-keys', ok([key]))
    return { status: 201, body: { ...key, key: 'shk_secret' } }
  })
  await user.type(field('Name'), 'laptop')
  await user.click(field(/^write:/))
  await user.selectOptions(screen.getByLabelText('Expiration'), 'Never')
  await user.click(screen.getByRole('button', { name: 'Create key' }))
  await screen.findByText('Key “laptop”')
  const shown = () => document.querySelector('.panel code')?.textContent
  expect(shown()).toBe('shk_secret')
  screen.getByRole('button', { name: 'Copy the key' })
  const sent = registry.bodies(create).at(-1) as NewApiKey
  expect(sent).toEqual({ name: 'laptop', scopes: ['read'], expires_at: null })
  await screen.findByText(/expires Mar 1, 2126/)
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(shown()).toBe(undefined)

  const remove = 'DELETE /v1/api-keys/id%20of%20laptop'
  registry.answer(remove, problem(403, 'not now'))
  await user.click(screen.getByRole('button', { name: 'Revoke laptop' }))
  await user.click(screen.getByRole('button', { name: 'Revoke key' }))
  await screen.findByText('Not now.')
  registry.answer(remove, () => {
    registry.answer('GET /v1/api-keys', ok([]))
    return { status: 204 }
  })
  await user.click(screen.getByRole('button', { name: 'Revoke key' }))
  await screen.findByText('No keys yet.')
})

test('only administrators can give a key the permission to administer', async () => {
  const registry = publicRegistry()
  const open = async () => {
    const user = await openScreen('/settings/keys', registry)
    await user.click(await screen.findByRole('button', { name: 'New key' }))
  }
  await open()
  expect(field(/^admin:/).checked).toBe(false)
  registry.answer('GET /v1/auth/me', ok(makeMe('ben')))
  await open()
  expect(screen.queryByLabelText(/^admin:/)).toBe(null)
  expect(field(/^read:/).checked).toBe(true)
})

test('a new key expires after 90 days, unless another lifetime is chosen', async () => {
  const registry = publicRegistry()
  registry.answer('POST /v1/api-keys', problem(403, 'not now'))
  const user = await openScreen('/settings/keys', registry)
  await user.click(await screen.findByRole('button', { name: 'New key' }))
  await user.type(field('Name'), 'ci{Enter}')
  await screen.findByText('Not now.')
  const [{ expires_at }] = registry.bodies('POST /v1/api-keys') as [{ expires_at: string }]
  expect((Date.parse(expires_at) - Date.now()) / 86_400_000).toBeCloseTo(90, 1)
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByLabelText('Name')).toBe(null)
})

test('another session can be ended', async () => {
  const registry = publicRegistry()
  const here: Session = {
    id: '1',
    created_at: '2026-03-01T09:00:00Z',
    last_used_at: null,
    expires_at: '2026-04-01T09:00:00Z',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    current: true,
  }
  const other = { ...here, id: '2', user_agent: 'shoal/0.1.0', current: false }
  registry.answer('GET /v1/auth/sessions', ok([here, other]))
  registry.answer('DELETE /v1/auth/sessions/2', problem(403, 'not now'))
  const user = await openScreen('/settings/sessions', registry)
  await screen.findByText('this session')
  const end = screen.getByRole('button', { name: /^End the session of/ })
  await user.click(end)
  await screen.findByText('Not now.')
  registry.answer('DELETE /v1/auth/sessions/2', () => {
    registry.answer('GET /v1/auth/sessions', ok([here]))
    return { status: 204 }
  })
  await user.click(end)
  await waitFor(() => expect(screen.queryByRole('button', { name: /^End/ })).toBe(null))
})

test('the settings of this machine are kept in cookies', async () => {
  const user = await openScreen('/settings/machine', publicRegistry({ isAnonymous: true }))
  await user.click(await screen.findByLabelText('Dark'))
  expect(document.documentElement.dataset.theme).toBe('dark')
  await user.selectOptions(screen.getByLabelText('My machine’s memory'), '32 GB')
  await user.click(field('Press / to search'))
  const address = field('Daemon address')
  await user.clear(address)
  await user.type(address, 'no address at all{Enter}')
  await screen.findByText('Enter a web address, such as http://localhost:11434.')
  await user.clear(address)
  await user.type(address, 'gpubox:11500/v1{Enter}')
  await screen.findByText(/^Saved\./)
  expect(address.value).toBe('http://gpubox:11500')
  const cookies = document.cookie.split('; ')
  for (const cookie of ['theme=dark', 'memory=32', 'slash=off', 'daemon=http://gpubox:11500']) {
    expect(cookies).toContain(cookie)
  }
  await user.click(field('Match system'))
  expect(document.documentElement.dataset.theme).toBe(undefined)
  await user.click(field('Press / to search'))
  await user.selectOptions(screen.getByLabelText('My machine’s memory'), '16 GB')
  await user.clear(address)
  await user.type(address, '{Enter}')
  await waitFor(() => expect(document.cookie).not.toContain('gpubox'))
})
