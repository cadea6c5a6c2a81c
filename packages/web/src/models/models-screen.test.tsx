// @vitest-environment happy-dom
import type { Facets, Model } from '@shoal/protocol'
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openScreen } from '../testing/open-screen.tsx'
import { publicRegistry } from '../testing/public-registry.ts'
import { makeModel } from '../testing/samples.ts'
import { ok, type Request } from '../testing/scripted-registry.ts'

const gib = 1024 ** 3
const models = [
  makeModel('tide', { architecture: 'llama', license: 'mit', tags: ['chat', 'code'] }),
  makeModel('reef', { architecture: 'llama', license: 'isc', tags: ['chat'] }),
  makeModel('gull', { architecture: 'qwen', license: 'mit', tags: ['code'] }),
].map((model, index): Model => ({ ...model, parameter_count: (index + 1) * 3e9 }))
const kelp = makeModel('kelp', {
  min_memory_bytes: gib,
  cache_bytes_per_token: 65_536,
  context_length: 131_072,
})

/** A registry that filters its models. Only `kelp` has files. */
function listRegistry(all: readonly Model[] = [...models, kelp]) {
  const registry = publicRegistry({ isAnonymous: true })
  const matching = ({ query }: Request) => {
    const tags = query.getAll('tag')
    const text = (name: string) => query.get(name)
    const context = Number(text('context_length') ?? 8192)
    const memory = Number(text('max_memory_bytes') ?? Number.POSITIVE_INFINITY)
    const neededBy = ({ min_memory_bytes, cache_bytes_per_token }: Model) =>
      min_memory_bytes === null
        ? Number.POSITIVE_INFINITY
        : min_memory_bytes + (context - 8192) * (cache_bytes_per_token ?? 0)
    return all.filter(
      (model) =>
        (text('q') === null || model.name === text('q')) &&
        (text('architecture') === null || model.architecture === text('architecture')) &&
        (text('license') === null || model.license === text('license')) &&
        tags.every((tag) => model.tags.includes(tag)) &&
        (model.parameter_count ?? 0) >= Number(text('min_parameters')) &&
        (model.parameter_count ?? 0) <= Number(text('max_parameters') ?? 1e15) &&
        (text('max_memory_bytes') === null || neededBy(model) <= memory),
    )
  }
  const count = (values: readonly (string | null)[]) => {
    const counts = new Map<string, number>()
    for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1)
    return [...counts].map(([value, count]) => ({ value, count }))
  }
  registry.answer('GET /v1/models', (request) => {
    const found = matching(request)
    const [offset, limit] = [request.query.get('offset'), request.query.get('limit')].map(Number)
    const headers = { 'x-total-count': String(found.length) }
    return { status: 200, headers, body: found.slice(offset, (offset ?? 0) + (limit ?? 20)) }
  })
  registry.answer('GET /v1/facets', (request) => {
    const found = matching(request)
    const body: Facets = {
      architectures: count(found.map(({ architecture }) => architecture)),
      licenses: count(found.map(({ license }) => license)),
      tags: count(found.flatMap(({ tags }) => tags)),
      quantizations: [],
    }
    return { status: 200, body }
  })
  return registry
}

const names = () =>
  [...document.querySelectorAll('#models li h2 a, #models li h3 a')].map((a) => a.textContent)
const facet = (name: string) => within(screen.getByRole('navigation', { name }))
const values = (name: string) =>
  facet(name)
    .getAllByRole('link')
    .map(({ textContent }) => textContent)
const title = (count: number) => screen.findByText(`${count} ${count === 1 ? 'model' : 'models'}`)

test('filters show only values that match models, with the number of models', async () => {
  const user = await openScreen('/', listRegistry())
  await title(4)
  const choose = async (name: string, value: string, count: number) => {
    await user.click(facet(name).getByRole('link', { name: new RegExp(`^${value}`) }))
    await title(count)
  }
  await choose('Architecture', 'llama', 2)
  await waitFor(() => expect(values('License')).toEqual(['mit1', 'isc1']))
  expect(values('Architecture')).toEqual(['llama2', 'qwen1'])
  await choose('Tags', 'chat', 2)
  await choose('Tags', 'code', 1)
  expect(names()).toEqual(['tide'])
  expect(location.search).toBe('?architecture=llama&tag=chat&tag=code')
  await waitFor(() => expect(values('License')).toEqual(['mit1']))
  screen.getByText('by ana')

  const chosen = within(screen.getByRole('list', { name: 'Chosen filters' }))
  await user.click(chosen.getByRole('link', { name: /^Remove the filter chat/ }))
  await waitFor(() => expect(chosen.queryByText('chat')).toBe(null))
  await user.click(chosen.getByRole('link', { name: /^Remove the filter llama/ }))
  await title(2)
  await user.click(chosen.getByRole('link', { name: 'Clear all' }))
  await title(4)
  expect(location.search).toBe('')
})

test('on narrow screens, filters are select elements; several tags can be added', async () => {
  const user = await openScreen('/', listRegistry())
  await title(4)
  await user.selectOptions(await screen.findByLabelText('Tags', { selector: 'select' }), 'chat')
  await title(2)
  await user.selectOptions(screen.getByLabelText('Tags', { selector: 'select' }), 'code')
  await title(1)
  await user.selectOptions(screen.getByLabelText('License', { selector: 'select' }), 'mit')
  await waitFor(() => expect(location.search).toBe('?tag=chat&tag=code&license=mit'))
  await user.selectOptions(screen.getByLabelText('License', { selector: 'select' }), 'All')
  await waitFor(() => expect(location.search).toBe('?tag=chat&tag=code'))
})

test('models can be limited to a range of sizes', async () => {
  const user = await openScreen('/', listRegistry())
  await user.selectOptions(await screen.findByLabelText('Minimum number of parameters'), '4B')
  await title(2)
  await user.selectOptions(screen.getByLabelText('Maximum number of parameters'), '8B')
  await title(1)
  expect(names()).toEqual(['reef'])
  const options = screen.getByLabelText('Minimum number of parameters').querySelectorAll('option')
  expect([...options].map(({ text }) => text)).toEqual(['Min', '500M', '1B', '2B', '4B'])
})

test('models can be limited to those that fit with a chosen context length', async () => {
  const user = await openScreen('/', listRegistry())
  await user.selectOptions(await screen.findByLabelText('Fits in memory'), '8 GB')
  await title(1)
  const memory = () => screen.getByText(/^runs in /).textContent
  const usual = memory()
  await user.selectOptions(screen.getByLabelText('with context'), '32K')
  await screen.findByText('fits in 8 GB, context 32K')
  await waitFor(() => expect(memory()).not.toBe(usual))
  await title(1)
  expect(location.search).toBe('?fits=8&context=32768')
  await user.selectOptions(screen.getByLabelText('with context'), '128K')
  await screen.findByText('No models found')
  await user.click(screen.getByText('fits in 8 GB, context 128K'))
  await title(4)
  expect(location.search).toBe('')
})

test('a page beyond the end of the list links to the last page', async () => {
  const many = Array.from({ length: 25 }, (_, index) => makeModel(`model-${index}`))
  const registry = listRegistry(many)
  for (const path of ['/?page=500', '/u/ana?page=500']) {
    const user = await openScreen(path, registry)
    await screen.findByText('There is no page 500')
    screen.getByText('The list ends on page 2.')
    expect(screen.queryByText(/^Page 500/)).toBe(null)
    await user.click(screen.getByRole('link', { name: 'Go to page 2' }))
    await screen.findByText('model-24')
    screen.getByText('Page 2 of 2')
    await user.click(screen.getByRole('link', { name: 'Previous' }))
    await screen.findByText('model-0')
  }
})

test('a list that is longer than the registry counts has a next page', async () => {
  const registry = listRegistry()
  const body = Array.from({ length: 20 }, (_, index) => makeModel(`model-${index}`))
  const headers = { 'x-total-count': '40', 'x-total-count-exact': 'false' }
  registry.answer('GET /v1/models', () => ({ status: 200, headers, body }))
  const user = await openScreen('/?page=2', registry)
  await screen.findByText('Page 2 of 2+')
  await user.click(screen.getByRole('link', { name: 'Next' }))
  await screen.findByText('Page 3')
})

test('models are searched while the visitor types, and the best matches come first', async () => {
  const registry = listRegistry()
  const user = await openScreen('/login', registry)
  const box = await screen.findByRole('searchbox', { name: 'Search models' })
  await user.keyboard('/')
  expect(document.activeElement).toBe(box)
  await user.keyboard('r')
  await screen.findByText(/ for “r”/)
  await user.keyboard('eef')
  await screen.findByText('1 model for “reef”')
  expect(names()).toEqual(['reef'])
  const sorts = within(screen.getByRole('navigation', { name: 'Sort by' }))
  const isCurrent = (text: string) => sorts.getByText(text).getAttribute('aria-current') !== null
  expect([isCurrent('Best match'), isCurrent('Newest')]).toEqual([true, false])
  await user.click(sorts.getByText('Newest'))
  await waitFor(() => expect(location.search).toBe('?q=reef&sort=created_at'))
  const searches = () =>
    registry.requests
      .filter(({ path, query }) => path === '/v1/models' && query.get('q') === 'reef')
      .map(({ query }) => query.get('sort'))
  await waitFor(() => expect([...new Set(searches())]).toEqual(['relevance', 'created_at']))
})

test('Enter leads from another page to the heading of the results', async () => {
  const user = await openScreen('/login', listRegistry())
  const box = await screen.findByRole('searchbox', { name: 'Search models' })
  await user.click(box)
  fireEvent.change(box, { target: { value: 'reef' } })
  fireEvent.submit(box) // before the pause after which typing alone starts a search
  await screen.findByText('1 model for “reef”')
  await waitFor(() => expect(document.activeElement?.tagName).toBe('H1'))
})

test('an empty registry explains how to publish a model', async () => {
  const registry = listRegistry([])
  registry.answer('GET /v1/stats', ok({ models: 0, files: 0, bytes: 0, downloads: 0 }))
  await openScreen('/', registry)
  await screen.findByText('No models yet')
  const command = 'shoal push ./model.gguf --name my-model --registry registry.test'
  await waitFor(() => expect(document.querySelector('#models code')?.textContent).toBe(command))
})
