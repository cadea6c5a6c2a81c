// @vitest-environment happy-dom
import type { ModelChanges } from '@shoal/protocol'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openScreen } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeFile, makeMe, makeModelRecord } from '../testing/samples.ts'
import { ok, problem } from '../testing/scripted-registry.ts'

beforeEach(() => localStorage.clear())

const edit = '/m/reef/edit'

/** A registry with the model `reef` of `ana`. Changes to the model are applied to it. */
function reefRegistry() {
  const registry = publicRegistry()
  const reef = makeModelRecord('reef', {
    display_name: 'Reef',
    description: 'Saved.',
    can_write: true,
  })
  registry.answer('GET /v1/models/reef', () => ({ status: 200, body: { ...reef } }))
  registry.answer('GET /v1/models/reef/files', ok([]))
  registry.answer('GET /v1/models/reef/card', () => ({ status: 200, body: '' }))
  registry.answer('GET /v1/models/id-of-reef/members', ok([]))
  const patch = 'PATCH /v1/models/id-of-reef'
  registry.answer(patch, ({ body }) => {
    Object.assign(reef, body)
    return { status: 200, body: reef }
  })
  return { ...registry, sent: () => registry.bodies(patch) as ModelChanges[] }
}

async function openEditor(registry = reefRegistry()) {
  const user = await openScreen(edit, registry)
  await screen.findByRole('heading', { name: 'Edit' })
  return { user, registry }
}

const field = (label: string | RegExp) => screen.getByLabelText<HTMLInputElement>(label)
const description = () => field('Description')
const warning = () => screen.findByRole('dialog', { name: 'Leave without saving?' })
const isRestored = () => screen.queryByText(/have been restored\.$/) !== null
const chatLink = () => within(screen.getByRole('navigation', { name: 'Main' })).getByText('Chat')
const path = (pathname: string) => waitFor(() => expect(location.pathname).toBe(pathname))

test('following a link asks first, and leaving keeps the changes as a draft', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), ' And more.')
  await user.click(chatLink())
  const asked = within(await warning())
  asked.getByText(/^Your changes are not saved in the registry\. This browser keeps them/)
  await user.click(asked.getByRole('button', { name: 'Stay' }))
  expect(location.pathname).toBe(edit)
  expect(description().value).toBe('Saved. And more.')
  await user.click(chatLink())
  await user.click(within(await warning()).getByRole('button', { name: 'Leave' }))
  await path('/chat')

  await openEditor(registry)
  expect(isRestored()).toBe(true)
  expect(description().value).toBe('Saved. And more.')
  expect(field('Display name').value).toBe('Reef')
  await user.click(screen.getByRole('button', { name: 'Discard changes' }))
  expect(isRestored()).toBe(false)
  expect(description().value).toBe('Saved.')
  expect(document.activeElement).toBe(field('Display name'))
  await user.click(chatLink())
  await path('/chat')
})

test('going back asks first', async () => {
  const registry = reefRegistry()
  const user = await openScreen('/m/reef', registry)
  await user.click(await screen.findByRole('link', { name: 'Edit' }))
  await screen.findByRole('heading', { name: 'Edit' })
  await user.type(description(), ' And more.')
  history.back()
  await user.click(within(await warning()).getByRole('button', { name: 'Stay' }))
  await path(edit)
  expect(description().value).toBe('Saved. And more.')
})

test('closing the page asks first only if there are changes', async () => {
  const { user } = await openEditor()
  const isAsked = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect(isAsked()).toBe(false)
  await user.type(description(), ' And more.')
  expect(isAsked()).toBe(true)
})

test('without changes, the page does not ask, and saved changes leave no draft behind', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), '!')
  await user.type(description(), '{Backspace}')
  await user.click(chatLink())
  await path('/chat')
  await openEditor(registry)
  await user.clear(description())
  await user.type(description(), 'New.')
  await user.click(field(/^Private: only/))
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await path('/m/reef')
  await screen.findByText('New.')
  await openEditor(registry)
  expect(isRestored()).toBe(false)
  expect(description().value).toBe('New.')
  expect(field(/^Private: only/).checked).toBe(true)
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await path('/m/reef')
  expect(registry.sent()).toEqual([{ description: 'New.', is_public: false }])
})

test('only edited fields are sent, so that changes made elsewhere are not undone', async () => {
  const { user, registry } = await openEditor()
  await user.type(field('Tags, separated by commas'), 'sea, , code, sea')
  await user.clear(description())
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await path('/m/reef')
  expect(registry.sent()).toEqual([{ description: null, tags: ['sea', 'code'] }])
})

test('errors in fields are shown next to them, and the first of them is focused', async () => {
  const { user, registry } = await openEditor()
  const errors = [
    { path: '/license', message: 'is too long' },
    { path: '/tags', message: 'has too many items' },
  ]
  registry.answer('PATCH /v1/models/id-of-reef', problem(422, 'invalid', { errors }))
  await user.type(field('License'), 'x')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByText('Not saved: correct the marked fields.')
  screen.getByText('Is too long.')
  screen.getByText('Has too many items.')
  expect(document.activeElement).toBe(field('License'))
})

test('if the session has expired, the page says so, and signing in leads back to the changes', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), ' And more.')
  registry.answer('PATCH /v1/models/id-of-reef', problem(401, 'sign in'))
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByText(/^Your session has ended, so nothing was saved\. This browser keeps/)
  const link = screen.getByRole('link', { name: 'Sign in to continue' })
  expect(link.getAttribute('href')).toBe('/login?next=%2Fm%2Freef%2Fedit')
  await openEditor(registry)
  expect(description().value).toBe('Saved. And more.')
})

test('another error is shown next to the button, and the changes are kept', async () => {
  const { user, registry } = await openEditor()
  registry.answer('PATCH /v1/models/id-of-reef', problem(409, 'the name is taken'))
  await user.type(field('Name'), 's')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByText('The name is taken. Your changes are kept as a draft.')
})

test('signing out asks first, and deletes the drafts', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), ' And more.')
  const confirm = vi.fn<(question?: string) => boolean>(() => false)
  vi.stubGlobal('confirm', confirm)
  onTestFinished(() => void vi.unstubAllGlobals())
  registry.answer('POST /v1/auth/logout', () => {
    registry.answer('GET /v1/auth/me', problem(401, 'sign in'))
    return { status: 204 }
  })
  await user.click(screen.getByRole('button', { name: 'Sign out' }))
  await waitFor(() => expect(confirm).toHaveBeenCalledOnce())
  expect(confirm.mock.lastCall?.[0]).toContain('If you sign out, they will be deleted.')
  expect(description().value).toBe('Saved. And more.')
  expect(registry.bodies('POST /v1/auth/logout')).toEqual([])
  confirm.mockReturnValue(true)
  await user.click(screen.getByRole('button', { name: 'Sign out' }))
  await screen.findByText('Sign in to see this page.')
  registry.restore('GET /v1/auth/me')
  await openEditor(registry)
  expect(description().value).toBe('Saved.')
})

test('another user of the same browser does not see the draft', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), ' And more.')
  registry.answer('GET /v1/auth/me', ok(makeMe('admin', { is_admin: true })))
  await openEditor(registry)
  expect(description().value).toBe('Saved.')
})

test('if the browser stores nothing, leaving warns that the changes will be lost', async () => {
  const { user, registry } = await openEditor()
  vi.stubGlobal('localStorage', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  await user.type(description(), ' And more.')
  await user.click(chatLink())
  const asked = within(await warning())
  asked.getByText(/so they will be lost/)
  await user.click(asked.getByRole('button', { name: 'Stay' }))
  registry.answer('PATCH /v1/models/id-of-reef', problem(401, 'sign in'))
  await user.click(screen.getByRole('button', { name: 'Save' }))
  const link = await screen.findByRole('link', { name: 'Sign in again in another tab' })
  expect(link.getAttribute('target')).toBe('_blank')
})

test('all files are listed with their state, and can be deleted', async () => {
  const registry = reefRegistry()
  const failed = makeFile('reef-Q4.gguf', {
    status: 'failed',
    status_detail: 'the tensors overlap',
    quantization: null,
  })
  registry.answer('GET /v1/models/reef/files', ok([makeFile('reef-Q8_0.gguf'), failed]))
  registry.answer('DELETE /v1/models/id-of-reef/files/id-of-reef-Q4.gguf', () => {
    registry.answer('GET /v1/models/reef/files', ok([makeFile('reef-Q8_0.gguf')]))
    return { status: 204 }
  })
  const { user } = await openEditor(registry)
  await screen.findByText('4.00 GB · failed')
  screen.getByText('Q8_0 · 4.00 GB')
  screen.getByText('the tensors overlap')
  const add = screen.getByRole('link', { name: 'Add a file' })
  expect(add.getAttribute('href')).toBe('/publish?model=reef')
  await user.click(screen.getByRole('button', { name: 'Delete reef-Q4.gguf' }))
  await user.click(screen.getByRole('button', { name: 'Delete file' }))
  await waitFor(() => expect(screen.queryByText('reef-Q4.gguf')).toBe(null))
})

test('a model is deleted after its name has been typed, together with its draft', async () => {
  const { user, registry } = await openEditor()
  await user.type(description(), ' And more.')
  const [open] = screen.getAllByRole('button', { name: 'Delete' })
  await user.click(open ?? document.body)
  const dialog = within(await screen.findByRole('dialog', { name: 'Delete Reef?' }))
  const confirm = dialog.getByRole('button', { name: 'Delete model' })
  expect(confirm).toHaveProperty('disabled', true)
  await user.type(dialog.getByLabelText('Type reef to confirm'), 'reef')
  registry.answer('DELETE /v1/models/id-of-reef', problem(403, 'not now'))
  await user.click(confirm)
  await dialog.findByText('Not now.')
  registry.answer('DELETE /v1/models/id-of-reef', () => ({ status: 204 }))
  await user.click(confirm)
  await path('/u/ana')
  expect(localStorage).toHaveLength(0)
})
