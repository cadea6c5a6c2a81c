// @vitest-environment happy-dom
import { makeGguf } from '@shoal/model-file/testing'
import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { openScreen, type Visitor } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeFile, makeMe, makeModelRecord } from '../testing/samples.ts'
import { ok, problem } from '../testing/scripted-registry.ts'

beforeEach(() => localStorage.clear())

const metadata = {
  'general.architecture': 'llama',
  'general.name': 'Tide 7B',
  'general.file_type': 7,
  'llama.context_length': 32_768,
}
const bytes = new Uint8Array(
  makeGguf({ metadata, tensors: [{ name: 'token_embd.weight', shape: [64], type: 'F32' }] }),
)
const ggufFile = (name: string) => new File([bytes], name)

/** Opens the form as `ana`. Model names that are not in the registry are free. */
async function openForm(path = '/publish') {
  const registry = publicRegistry()
  for (const name of ['kept', 'tide-7b', 'delta', 'mist', 'dew']) {
    registry.answer(
      `GET /v1/models/${name}`,
      problem(404, `no model ${name}`, { code: 'model_unknown' }),
    )
  }
  const user = await openScreen(path, registry)
  await screen.findByText('Drop .gguf files here')
  return { registry, user }
}

const fileInput = () => screen.getByLabelText<HTMLInputElement>('Choose files')
const nameField = () => screen.getByLabelText<HTMLInputElement>('Name')
const readField = (label: string) => screen.getByLabelText<HTMLInputElement>(label).value
const submit = (user: Visitor) => user.click(screen.getByRole('button', { name: 'Publish' }))
const focused = () => document.activeElement

test('visitors who are not signed in get a link to sign in and return', async () => {
  await openScreen('/publish', publicRegistry({ isAnonymous: true }))
  await screen.findByText('Sign in to publish')
  const link = within(screen.getByRole('main')).getByRole('link', { name: 'Sign in' })
  expect(link.getAttribute('href')).toBe('/login?next=/publish')
})

test('the details are suggested from the header of the chosen file', async () => {
  const { user } = await openForm()
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await screen.findByText('Available. Pull command: shoal pull registry.test/tide-7b')
  expect(nameField().value).toBe('tide-7b')
  expect(readField('Display name')).toBe('Tide 7B')
  expect(screen.getByLabelText('Details read from the files').textContent).toMatch(/llama.*32K/s)
  screen.getByText(/^1 file, /)
})

test('without files and a name, the form explains what is missing, and focuses the files', async () => {
  const { user } = await openForm()
  await submit(user)
  await screen.findByText('Choose at least one GGUF file.')
  screen.getByText('Enter a name for the model.')
  await waitFor(() => expect(focused()).toBe(fileInput()))
  expect(fileInput().getAttribute('aria-invalid')).toBe('true')
})

test('a file that is not GGUF is refused with the reason', async () => {
  const { user } = await openForm()
  const cut = new File([bytes.slice(0, -8)], 'short.gguf')
  await user.upload(fileInput(), [new File(['no model'], 'nonsense.gguf'), cut])
  await screen.findByText(/cannot be published: not a GGUF file/)
  screen.getByText(/beyond the end of the file/)
  await submit(user)
  await screen.findByText('Choose at least one GGUF file.')
})

test.each([
  ['notes.txt', /does not end in \.gguf/],
  ['-tide.gguf', /must start with a letter or digit/],
])('the filename %s is refused', async (name, reason) => {
  const { user } = await openForm()
  fileInput().accept = '' // some browsers let visitors choose other files
  await user.upload(fileInput(), ggufFile(name))
  await screen.findByText(reason)
})

test('an incomplete split model is refused, and the missing files are listed', async () => {
  const { user, registry } = await openForm()
  const part = (number: number) => ggufFile(`delta-Q8_0-0000${number}-of-00003.gguf`)
  await user.upload(fileInput(), part(2))
  const missing = 'delta-Q8_0-00001-of-00003.gguf, delta-Q8_0-00003-of-00003.gguf'
  await screen.findByText(/^Missing 2 parts of 3:/)
  expect(document.body.textContent).toContain(missing)
  // Lines may break anywhere in a filename, but not in a quantization.
  expect(screen.getAllByText('Q8_0', { selector: '.break-all > .whitespace-nowrap' })).not.toEqual(
    [],
  )
  await user.clear(nameField())
  await user.type(nameField(), 'delta')
  await screen.findByText(/^Available\./)
  await submit(user)
  await screen.findByText(new RegExp(`missing: ${missing}. Add`))
  await waitFor(() => expect(focused()).toBe(fileInput()))
  expect(registry.bodies('POST /v1/models')).toEqual([])
  await user.upload(fileInput(), [part(1), part(3)])
  await waitFor(() => expect(screen.queryByText(/^Missing/)).toBe(null))
})

test('parts that the model already has need not be chosen again', async () => {
  const { user, registry } = await openForm()
  registry.answer('GET /v1/models/delta', ok(makeModelRecord('delta', { can_write: true })))
  const published = [1, 3].map((number) => makeFile(`delta-Q8_0-0000${number}-of-00003.gguf`))
  registry.answer('GET /v1/models/delta/files', ok(published))
  await user.upload(fileInput(), ggufFile('delta-Q8_0-00002-of-00003.gguf'))
  await screen.findByText(/^Missing 2 parts of 3:/)
  await user.clear(nameField())
  await user.type(nameField(), 'delta')
  await waitFor(() => expect(screen.queryByText(/^Missing/)).toBe(null))
  screen.getByRole('button', { name: 'Add files' })
})

test('the name of another user’s model is refused', async () => {
  const { user, registry } = await openForm()
  registry.answer('GET /v1/models/mist', ok(makeModelRecord('mist', { owner: 'gwen' })))
  await user.upload(fileInput(), ggufFile('mist-Q8_0.gguf'))
  await screen.findByText('Already taken by gwen.')
  expect(nameField().value).toBe('mist')
  await submit(user)
  await waitFor(() => expect(focused()).toBe(nameField()))
  expect(registry.bodies('POST /v1/models')).toEqual([])
})

test('a name that has been taken in the meantime is refused', async () => {
  const { user, registry } = await openForm()
  registry.answer('POST /v1/models', () => {
    registry.answer('GET /v1/models/tide-7b', ok(makeModelRecord('tide-7b', { owner: 'gwen' })))
    return problem(409, 'the name is taken', { code: 'name_taken' })()
  })
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await screen.findByText(/^Available\./)
  await submit(user)
  await screen.findByText('Already taken by gwen.')
  expect(nameField().getAttribute('aria-invalid')).toBe('true')
})

test('files can be added to one’s own model, whose details do not change', async () => {
  const { user, registry } = await openForm('/publish?model=dew')
  expect(nameField().value).toBe('dew')
  registry.answer('GET /v1/models/mine', ok(makeModelRecord('mine', { can_write: true })))
  await user.clear(nameField())
  await user.type(nameField(), 'mine')
  await screen.findByText(/^This model already exists\. Your files will be added to it/)
  screen.getByRole('button', { name: 'Add files' })
  expect(screen.queryByLabelText('Display name')).toBe(null)
})

test('details that are too long are refused, and the first of them is focused', async () => {
  const { user } = await openForm()
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await screen.findByText(/^Available\./)
  const license = screen.getByLabelText('License')
  await user.click(license)
  await user.paste('x'.repeat(101))
  await user.click(screen.getByLabelText('Tags'))
  await user.paste('y'.repeat(65))
  await submit(user)
  await screen.findByText('At most 100 characters.')
  screen.getByText('A tag can have at most 64 characters.')
  await waitFor(() => expect(focused()).toBe(license))
})

test('if the session has expired, the form keeps the files, and links to sign in in another tab', async () => {
  const { user, registry } = await openForm()
  registry.answer('POST /v1/models', problem(401, 'sign in'))
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await screen.findByText(/^Available\./)
  await submit(user)
  const link = await screen.findByRole('link', { name: 'Sign in again in another tab' })
  expect([link.getAttribute('target'), link.getAttribute('href')]).toEqual([
    '_blank',
    '/login?next=%2Fpublish',
  ])
  screen.getByText(/^1 file, /)
  expect(registry.bodies('POST /v1/models')).toEqual([
    { name: 'tide-7b', display_name: 'Tide 7B', is_public: true },
  ])
})

test('if the registry fails, the form keeps its input', async () => {
  const { user, registry } = await openForm()
  registry.answer('POST /v1/models', problem(500, 'broken'))
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await screen.findByText(/^Available\./)
  await user.click(screen.getByLabelText(/^Private/))
  await submit(user)
  await screen.findByText(/Your input has been kept\.$/)
  expect(registry.bodies('POST /v1/models')).toMatchObject([{ is_public: false }])
  expect(nameField().value).toBe('tide-7b')
})

test('a chosen file can be removed', async () => {
  const { user } = await openForm()
  await user.upload(fileInput(), ggufFile('Tide-7B-Q8_0.gguf'))
  await user.click(await screen.findByRole('button', { name: 'Remove Q8_0' }))
  expect(screen.queryByText(/^Tide-7B/)).toBe(null)
  screen.getByText('Drop .gguf files here')
})

test('leaving the form asks first, and the details are restored on the next visit', async () => {
  const { user } = await openForm()
  await user.type(screen.getByLabelText('Model card'), '# Brook')
  await user.click(screen.getAllByRole('link', { name: 'Chat' })[0] ?? document.body)
  await screen.findByText(/you will have to choose the files again/)
  await user.click(screen.getByRole('button', { name: 'Stay' }))
  expect(location.pathname).toBe('/publish')
  expect(readField('Model card')).toBe('# Brook')
  await user.click(screen.getAllByRole('link', { name: 'Chat' })[0] ?? document.body)
  await user.click(await screen.findByRole('button', { name: 'Leave' }))
  await screen.findByRole('heading', { level: 1, name: 'Chat' })
  await user.click(screen.getAllByRole('link', { name: 'Publish' })[0] ?? document.body)
  await screen.findByText('The details that you entered on an earlier visit have been restored.')
  expect(readField('Model card')).toBe('# Brook')
  await user.click(screen.getByRole('button', { name: 'Discard changes' }))
  expect(readField('Model card')).toBe('')
})

test('a draft of another user is not restored', async () => {
  const { user, registry } = await openForm()
  await user.type(screen.getByLabelText('Model card'), '# Brook')
  registry.answer('GET /v1/auth/me', ok(makeMe('ben')))
  await openScreen('/publish', registry)
  await screen.findByText('Drop .gguf files here')
  expect(readField('Model card')).toBe('')
})

test('a card can be previewed without losing its text', async () => {
  const { user, registry } = await openForm()
  const card = screen.getByLabelText<HTMLTextAreaElement>('Model card')
  await user.type(card, 'It *knows*.')
  registry.answer('POST /v1/cards', () => ({ status: 200, body: '<p>It <em>knows</em>.</p>' }))
  await user.click(screen.getByText('Preview'))
  await screen.findByText('knows', { selector: '.prose em' })
  expect(card.hidden).toBe(true)
  expect(registry.bodies('POST /v1/cards')).toEqual([{ readme: 'It *knows*.', names: ['', ''] }])
  await user.click(screen.getByText('Write'))
  expect([card.hidden, card.value]).toEqual([false, 'It *knows*.'])
})
