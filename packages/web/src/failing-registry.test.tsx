// @vitest-environment happy-dom
/** Tests what every screen shows while the registry is slow, busy, offline or broken. */
import { NetworkError } from '@shoal/protocol/client'
import { screen, waitFor } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openScreen } from './testing/open-screen.tsx'
import { publicRegistry } from './testing/public-registry.ts'
import { problem } from './testing/scripted-registry.ts'

const ways: [name: string, path: string, call: string, shows: RegExp, hasNoPlaceholder?: true][] = [
  ['the list', '/', 'GET /v1/models', /^1 model$/],
  ['a model', '/m/tide', 'GET /v1/models/tide', /^by$/],
  ['its files', '/m/tide?tab=files', 'GET /v1/models/tide/files', /^Choose a file$/],
  ['its card', '/m/tide', 'GET /v1/models/tide/card', /^Results$/],
  [
    'its metadata',
    '/m/tide?tab=metadata',
    'GET /v1/models/id-of-tide/files/id-of-tide-Q8_0.gguf',
    /^general\.name$/,
  ],
  ['an owner', '/u/ana', 'GET /v1/users/ana', /^1 model · joined/, true],
  ['API keys', '/settings/keys', 'GET /v1/api-keys', /^No keys yet/],
  ['sessions', '/settings/sessions', 'GET /v1/auth/sessions', /^The browsers and programs/],
  ['accounts', '/admin', 'GET /v1/admin/users', /^0 accounts$/],
  ['invitations', '/admin/invitations', 'GET /v1/admin/invitations', /^No invitations yet/],
  ['the audit log', '/admin/audit', 'GET /v1/admin/audit', /^No entries yet/],
]

const busy = () => document.querySelector('main [aria-busy="true"]')

test.each(ways)(
  'while %s loads, a placeholder is shown; an error can be retried',
  async (_, path, call, shows, hasNoPlaceholder) => {
    const registry = publicRegistry()
    const answered = Promise.withResolvers<void>()
    registry.answer(call, async () => {
      await answered.promise
      return problem(500, 'broken')()
    })
    const user = await openScreen(path, registry)
    if (!hasNoPlaceholder) await waitFor(() => expect(busy()).not.toBe(null))
    answered.resolve()
    await screen.findByText('Registry error')
    expect(screen.queryByText('No file is ready yet.')).toBe(null)
    expect(busy()).toBe(null)
    registry.restore(call)
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    await screen.findAllByText(shows)
    expect(screen.queryByText('Registry error')).toBe(null)
  },
)

test('a registry that is offline is reported as such', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/models', () => {
    throw new NetworkError({ code: 'unreachable', reason: 'unknown', host: 'x', detail: '' })
  })
  await openScreen('/', registry)
  await screen.findByText('The registry is not responding')
  screen.getByText('Check your network connection, then try again.')
})

test.each([
  [403, 'You don’t have permission to do this', 'Not now.'],
  [429, 'Too many requests', 'Not now.'],
  [400, 'The request was rejected', 'Not now.'],
  [503, 'Registry error', 'Not now.'],
  [500, 'Registry error', 'The registry could not process the request. Try again in a moment.'],
])('the status %i is reported as “%s”', async (status, title, detail) => {
  const registry = publicRegistry()
  registry.answer('GET /v1/models', problem(status, 'not now'))
  await openScreen('/', registry)
  await screen.findByText(title)
  screen.getByText(detail)
})

test('a call that a busy registry asks to repeat is counted down and repeated', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  let calls = 0
  registry.answer('GET /v1/models', () => {
    calls += 1
    if (calls > 1) return { status: 200, body: [] }
    return { ...problem(429, 'too many calls')(), headers: { 'retry-after': '1' } }
  })
  vi.useFakeTimers({ toFake: ['Date'] }) // so that the notice does not disappear before it has been found
  onTestFinished(() => void vi.useRealTimers())
  await openScreen('/', registry, { maxWaits: 5 })
  await screen.findByText('The registry is busy. Retrying in 1 s.')
  await screen.findByText('0 models')
  vi.useRealTimers()
  await waitFor(() => expect(screen.queryByText(/^The registry is busy/)).toBe(null))
  expect(calls).toBe(2)
})

test('a missing model is not found, and models with similar names are suggested', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/models/tidd', problem(404, 'no model tidd', { code: 'model_unknown' }))
  await openScreen('/m/tidd', registry)
  await screen.findByText('Model not found')
  screen.getByText(/If the model is private, sign in to see it\./)
  await screen.findByRole('link', { name: 'tide' })
})

test('a missing account and an unknown address are not found', async () => {
  const registry = publicRegistry()
  registry.answer('GET /v1/users/nobody', problem(404, 'no user nobody', { code: 'user_unknown' }))
  await openScreen('/u/nobody', registry)
  await screen.findByText('User not found')
  await openScreen('/nowhere', registry)
  await screen.findByText('Page not found')
})
