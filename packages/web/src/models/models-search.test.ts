import { expect, test } from 'vitest'
import { filterFrom, readModelsSearch, sortsFor } from './models-search.ts'

test.each([
  ['a search is sorted by relevance', { q: 'llama' }, 'relevance'],
  ['a list without search terms is sorted by downloads', { tag: 'chat' }, 'downloads'],
  ['a chosen order is kept', { q: 'llama', sort: 'likes' }, 'likes'],
  ['a chosen order is kept without search terms', { q: 'llama', sort: 'downloads' }, 'downloads'],
  ['sorting by relevance requires search terms', { sort: 'relevance' }, 'downloads'],
  ['an unknown order is ignored', { q: 'llama', sort: 'x' }, 'relevance'],
])('%s', (_, parameters, sort) => {
  const search = readModelsSearch(parameters)
  expect(filterFrom(search).sort).toBe(sort)
  expect(sortsFor(search).map(({ value }) => value)).toContain(sort)
})

test('the default sort order is omitted from the URL', () => {
  expect(readModelsSearch({ q: 'llama', sort: 'relevance' })).toEqual({ q: 'llama' })
  expect(readModelsSearch({ sort: 'downloads' })).toEqual({})
})
