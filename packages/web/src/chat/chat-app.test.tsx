// @vitest-environment happy-dom
import { formatRunLink } from '@shoal/core/references'
import {
  type DaemonRegistry,
  fetchInference,
  inferenceClient,
  type ListedModel,
  type RegistryPage,
} from '@shoal/protocol/inference-client'
import { cleanup, configure, render, screen, waitFor, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, expect, test } from 'vitest'
import { ChatApp } from './chat-app.tsx'
import { createModelStore } from './models/model-store.ts'
import { watchRunLink } from './run/run-link.ts'
import { createChat } from './state/chat.ts'

configure({ asyncUtilTimeout: 40_000 }) // as in vitest.config.ts
afterEach(cleanup)

type Request = { body: unknown; key: string | undefined }
type Script = (request: Request) => Response | Promise<Response>

const json = (body: unknown, status = 200, headers = {}) => Response.json(body, { status, headers })
const tiny: ListedModel = {
  name: 'shoal-tiny:latest',
  size: 1e6,
  details: { parameter_size: '1M', quantization_level: 'Q8_0' },
  capabilities: ['completion'],
}
const registry: DaemonRegistry = { address: 'https://models.example.org', has_credentials: false }

/** Returns a script that answers with the words, as a model does. */
const answer =
  (...words: string[]) =>
  () => {
    const events = [
      ...words.map((content) => ({ choices: [{ delta: { content } }] })),
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ]
    const data = [...events.map((event) => JSON.stringify(event)), '[DONE]']
    const text = data.map((one) => `data: ${one}\n\n`).join('')
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  }

/** Opens the chat page of a daemon with the model `shoal-tiny`, which answers calls as `scripts` say. */
async function openChat(scripts: Record<string, Script> = {}, hash = '') {
  const known: Record<string, Script> = {
    'GET /api/tags': () => json({ models: [tiny] }),
    'GET /api/ps': () => json({ models: [] }),
    'GET /api/registries': () => json({ registries: [registry] }),
    'POST /v1/chat/completions': answer('Hel', 'lo!'),
    ...scripts,
  }
  const calls: string[] = []
  const send: typeof fetch = async (url, { method = 'GET', body, headers } = {}) => {
    const { pathname } = new URL(String(url))
    const call = `${method} ${pathname}`
    calls.push(call)
    const key = new Headers(headers).get('authorization')?.replace('Bearer ', '')
    const script = known[call] ?? (() => json({ error: `no script for ${call}` }, 501))
    return script({ body: body ? JSON.parse(String(body)) : undefined, key })
  }
  history.replaceState(null, '', `/${hash}`)
  let apiKey: string | undefined
  const daemon = inferenceClient(fetchInference('http://daemon.test', send), () => apiKey)
  const chat = createChat({
    daemon,
    keepKey(key) {
      apiKey = key
    },
    openHistory: () => Promise.reject(new Error('no database')),
    address: { read: () => '', write: () => undefined },
  })
  const store = createModelStore(daemon, chat.refreshModels)
  render(<ChatApp chat={chat} store={store} runLink={watchRunLink()} />)
  await chat.start()
  const script = (call: string, next: Script) => {
    known[call] = next
  }
  return { user: userEvent.setup(), calls, script }
}

const linkTo = (address: string) =>
  new URL(formatRunLink('http://daemon.test', { registry: address, name: 'tide', label: 'Q8_0' }))
    .hash

const answered = (text: string) => screen.findByText(text, { selector: 'main p' })

test('a question is answered, and the answer can be repeated', async () => {
  const { user, script } = await openChat()
  await screen.findByRole('heading', { name: 'Talk to shoal-tiny' })
  await user.type(screen.getByLabelText('Message'), 'hi{Enter}')
  await answered('Hello!')
  expect(screen.getByText('hi', { selector: 'p' })).toBeTruthy()
  script('POST /v1/chat/completions', answer('Good day.'))
  await user.click(await screen.findByRole('button', { name: 'Try again' }))
  await answered('Good day.')
  expect(screen.queryByText('Hello!', { selector: 'main p' })).toBe(null)
})

test('without a database, the page says that chats are not saved', async () => {
  await openChat()
  await screen.findByText('Chat history is unavailable: no database')
})

test('the page asks for a key if the daemon requires one, and asks again if it is wrong', async () => {
  const locked: Script = ({ key }) =>
    key === 'secret'
      ? json({ models: [tiny] })
      : json({ error: key ? 'this API key is wrong' : 'this daemon requires its API key' }, 401)
  const { user } = await openChat({ 'GET /api/tags': locked })
  await screen.findByText('This daemon requires its API key.')
  await user.type(screen.getByLabelText('API key'), 'wrong{Enter}')
  await screen.findByText('This API key is wrong.')
  await user.clear(screen.getByLabelText('API key'))
  await user.type(screen.getByLabelText('API key'), ' secret {Enter}')
  await screen.findByRole('heading', { name: 'Talk to shoal-tiny' })
})

test('without models, the page shows a command that names the daemon’s registry', async () => {
  document.documentElement.dataset.registry = 'models.example.org'
  const { user, script } = await openChat({ 'GET /api/tags': () => json({ models: [] }) })
  await screen.findByText('No chat models installed')
  const command = () => document.querySelector('main code')?.textContent
  expect(command()).toBe('shoal pull models.example.org/shoal-tiny')
  delete document.documentElement.dataset.registry
  script('GET /api/tags', () => json({ models: [tiny] }))
  await user.click(screen.getByRole('button', { name: 'Check again' }))
  await screen.findByRole('heading', { name: 'Talk to shoal-tiny' })
})

const refusal =
  (status: number, code: string | undefined, message: string): Script =>
  () =>
    json({ error: { message, ...(code && { code }) } }, status)

test.each<[string, Script, string]>([
  [
    'a chat that is too long',
    refusal(400, 'context_length_exceeded', 'too long'),
    'This chat exceeds the model’s context length',
  ],
  [
    'a model that has been removed',
    refusal(404, undefined, 'gone'),
    'This model is no longer installed',
  ],
  [
    'a daemon that has ended',
    () => Promise.reject(new TypeError('failed')),
    'The daemon is not responding',
  ],
])('%s is reported with advice', async (_, script, title) => {
  const { user } = await openChat({ 'POST /v1/chat/completions': script })
  await user.type(await screen.findByLabelText('Message'), 'hi{Enter}')
  await screen.findByText(title)
})

test('a daemon that has ended is reported with the command that starts it', async () => {
  const gone = () => Promise.reject(new TypeError('failed'))
  const { user } = await openChat({ 'POST /v1/chat/completions': gone })
  await user.type(await screen.findByLabelText('Message'), 'hi{Enter}')
  await screen.findByText('The daemon is not responding')
  const commands = [...document.querySelectorAll('main code')].map((one) => one.textContent)
  expect(commands).toContain('shoal serve')
})

const full = (seconds: number) => () =>
  json({ error: { message: 'full' } }, 429, { 'retry-after': String(seconds) })

test('while the model is busy, the retry is counted down, and can be stopped', async () => {
  const { user, calls } = await openChat({ 'POST /v1/chat/completions': full(600) })
  await user.type(await screen.findByLabelText('Message'), 'hi{Enter}')
  await screen.findByText(/^The daemon is busy\. Retrying in \d{3} s\./)
  await user.click(screen.getByRole('button', { name: 'Stop' }))
  await waitFor(() => expect(screen.queryByText(/^The daemon is busy/)).toBe(null))
  expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(1)
})

test('if the model is busy, the question is asked again after the time that the daemon states', async () => {
  const replies = [full(1), answer('Hello!')]
  const { user, calls } = await openChat({
    'POST /v1/chat/completions': () => (replies.shift() ?? full(600))(),
  })
  await user.type(await screen.findByLabelText('Message'), 'hi{Enter}')
  await answered('Hello!')
  expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(2)
})

test.each([
  ['a script', 'javascript:alert(document.domain)//tide'],
  ['a file', 'file:///etc/passwd'],
  ['credentials', 'http://ana:secret@models.example.org/tide'],
  ['a backslash', 'http://models.example.org\\@evil.example/tide'],
  ['a control character', 'http://models.example.org/tide\u202e:Q8_0'],
  ['10,000 characters', `http://models.example.org/tide:${'a'.repeat(10_000)}`],
  ['HTML', '<img src=x onerror=alert(1)>'],
])('a link with %s is refused', async (_, text) => {
  const { user, calls } = await openChat({}, `#run=${encodeURIComponent(text)}`)
  await screen.findByRole('heading', { name: 'This link cannot be used' })
  expect(location.href).not.toContain('run=')
  expect(document.querySelector('main img')).toBe(null)
  await user.click(screen.getByRole('button', { name: 'Go to the chat' }))
  await screen.findByRole('heading', { name: 'Talk to shoal-tiny' })
  expect(calls.filter((call) => call.startsWith('POST'))).toEqual([])
})

test('the hostname of a link is shown in Punycode, and local addresses are named', async () => {
  await openChat({}, linkTo('https://мodels.example.org'))
  await screen.findByText('xn--odels-5xe.example.org')
  screen.getByText(/letters that can look like other letters/)
  cleanup()
  await openChat({}, linkTo('http://192.168.1.1'))
  await screen.findByText(/^The address is on your local network/)
  cleanup()
  await openChat({}, linkTo('http://127.0.0.1:8000'))
  await screen.findByText(/^The address belongs to this machine/)
})

test('an unknown registry is contacted only after a second confirmation', async () => {
  const { user, calls } = await openChat({}, linkTo('https://unknown.example.org'))
  await screen.findByText('The registry unknown.example.org is not configured on this machine')
  const next = screen.getByRole('button', { name: 'Continue' })
  await waitFor(() => expect(next).toHaveProperty('disabled', false))
  await user.click(next)
  const dialog = within(screen.getByRole('dialog', { name: 'Contact unknown.example.org?' }))
  await user.click(dialog.getByRole('button', { name: 'Cancel' }))
  expect(calls.filter((call) => call.startsWith('POST'))).toEqual([])
  await user.click(next)
  await user.click(dialog.getByRole('button', { name: 'Contact this registry' }))
  await waitFor(() => expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(1))
})

test('the error for a failed search says what to do', async () => {
  const { user, script } = await openChat({
    'POST /api/registries/search': () => json({ error: 'no', code: 'registry_refused' }, 403),
  })
  await user.click(await screen.findByRole('button', { name: 'Models' }))
  await screen.findByText('The registry requires you to sign in')
  const commands = () => [...document.querySelectorAll('main code')].map((one) => one.textContent)
  expect(commands()).toContain('shoal login --registry https://models.example.org')
  const none: RegistryPage = {
    registry: registry.address,
    total: 0,
    is_total_exact: true,
    is_token_refused: true,
    memory_limit_bytes: 8e9,
    models: [],
  }
  script('POST /api/registries/search', () => json(none))
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await screen.findAllByText(/^No models found/)
  await screen.findByText(/^This machine’s sign-in to the registry is no longer valid/)
  await user.click(screen.getByRole('button', { name: 'Back to chat' }))
  await screen.findByRole('heading', { name: 'Talk to shoal-tiny' })
})

test('models are searched in the chosen registry, which may have no models', async () => {
  const other = { address: 'https://other.example.org', has_credentials: true }
  const found = (address: string, names: string[]): RegistryPage => ({
    registry: address,
    total: names.length,
    is_total_exact: true,
    is_token_refused: false,
    memory_limit_bytes: 8e9,
    models: names.map((name) => ({
      name,
      display_name: name,
      description: null,
      license: null,
      owner: 'ana',
      parameter_count: null,
      quantizations: ['Q8_0'],
      min_file_size_bytes: 1e6,
      min_memory_bytes: 2e6,
      fits: true,
      local_model: null,
    })),
  })
  const { user } = await openChat({
    'GET /api/registries': () => json({ registries: [registry, other] }),
    'POST /api/registries/search': ({ body }) => {
      const address = (body as { registry?: string }).registry ?? registry.address
      return json(found(address, address === registry.address ? ['tide'] : []))
    },
  })
  await user.click(await screen.findByRole('button', { name: 'Models' }))
  await screen.findByRole('button', { name: 'Pull tide' })
  await user.selectOptions(screen.getByLabelText('Registry'), other.address)
  await screen.findAllByText(/^No models found/)
  expect(screen.queryByRole('button', { name: 'Pull tide' })).toBe(null)
})
