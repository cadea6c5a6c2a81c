// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { changedPrefs } from '../prefs.ts'
import { openScreen } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeFile, makeModelRecord } from '../testing/samples.ts'
import { ok, problem } from '../testing/scripted-registry.ts'

afterEach(() => changedPrefs.set({}))

test('memory estimates are for the chosen context length, which is shown and remembered', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  const long = { context_length: 131_072, cache_bytes_per_token: 65_536 }
  registry.answer('GET /v1/models/tide', ok(makeModelRecord('tide', long)))
  const user = await openScreen('/m/tide?tab=files', registry)
  await screen.findByText(/Estimates include a context of 8K tokens\.$/)
  const memory = () => screen.getByText(/^(runs in|needs) /).textContent
  const usual = memory()
  await user.selectOptions(screen.getByLabelText('Context in tokens'), '128K')
  await screen.findByText(/Estimates include a context of 128K tokens\.$/)
  expect(memory()).not.toBe(usual)
  expect(document.cookie).toContain('context=131072')
  await user.selectOptions(screen.getByLabelText('My machine’s memory'), '8 GB')
  await screen.findByText(/^No file of this model fits in 8 GB with a context of 128K tokens/)
  await user.selectOptions(screen.getByLabelText('My machine’s memory'), '64 GB')
  await screen.findByText('Best fit')
})

test('the commands for a vision model include its projector', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  const projector = makeFile('mmproj-tide-F16.gguf', { quantization: 'F16', memory_bytes: null })
  registry.answer('GET /v1/models/tide/files', ok([makeFile('tide-Q8_0.gguf'), projector]))
  const user = await openScreen('/m/tide', registry)
  const use = await screen.findByRole('complementary', { name: 'Use this model' })
  const note = 'llama.cpp also needs the projector mmproj-tide-F16'
  await waitFor(() => expect(use.textContent).toContain(note))
  await user.click(screen.getByLabelText('llama.cpp'))
  expect(use.querySelector('pre')?.textContent).toBe(
    'llama-mtmd-cli -m "$(shoal pull registry.test/tide:Q8_0)" --mmproj "$(shoal pull registry.test/tide:mmproj-tide-F16)"',
  )
})

test('a like is shown immediately, and taken back if the registry refuses it', async () => {
  const registry = publicRegistry()
  registry.answer('GET /v1/models/tide', ok(makeModelRecord('tide', { liked: false, likes: 4 })))
  const asked = Promise.withResolvers<void>()
  registry.answer('PUT /v1/models/id-of-tide/like', async () => {
    await asked.promise
    return problem(403, 'not now')()
  })
  const user = await openScreen('/m/tide', registry)
  const like = await screen.findByRole('button', { pressed: false, name: /like/i })
  await user.click(like)
  await waitFor(() => expect(like.getAttribute('aria-pressed')).toBe('true'))
  expect(like.textContent).toContain('5')
  asked.resolve()
  await waitFor(() => expect(like.getAttribute('aria-pressed')).toBe('false'))
  expect(like.textContent).toContain('4')
  expect(registry.bodies('PUT /v1/models/id-of-tide/like')).toEqual([{ liked: true }])
})

test('the page of a former name shows the model under its current name', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/models/ebb', ok(makeModelRecord('tide')))
  registry.answer('GET /v1/models/ebb/files', ok([]))
  registry.answer('GET /v1/models/ebb/card', () => ({ status: 200, body: '' }))
  await openScreen('/m/ebb?tab=files', registry)
  await screen.findByText('Choose a file')
  expect(location.pathname + location.search).toBe('/m/tide?tab=files')
})

test('external images of a card are loaded only on request', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  const image = '<p><span class="card-image" data-src="https://example.org/a.png">a</span></p>'
  registry.answer('GET /v1/models/tide/card', () => ({ status: 200, body: image }))
  await openScreen('/m/tide', registry)
  const link = await screen.findByRole('link', { name: 'Show external images' })
  expect(link.getAttribute('href')).toBe('/m/tide?images=1')
  expect(document.querySelector('main img')).toBe(null)
})

test('a model without a card or files says so', async () => {
  const registry = publicRegistry({ isAnonymous: true })
  registry.answer('GET /v1/models/tide/card', () => ({ status: 200, body: '' }))
  registry.answer('GET /v1/models/tide/files', ok([]))
  await openScreen('/m/tide', registry)
  await screen.findByText('This model has no card yet.')
  await openScreen('/m/tide?tab=files', registry)
  await screen.findByText('No file is ready yet.')
})

test('every page links to the page that explains how to install shoal', async () => {
  await openScreen('/m/tide', publicRegistry())
  const link = await screen.findByRole('link', { name: 'Install shoal' })
  expect(link.getAttribute('href')).toBe('/install')
  expect(screen.getByRole('contentinfo').contains(link)).toBe(true)
})
