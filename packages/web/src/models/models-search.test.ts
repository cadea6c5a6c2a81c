import { expect, test } from 'vitest'
import { filterFrom, readModelsSearch, sortsFor } from './models-search.ts'

test.each([
  ['a search is sorted by relevance', { q: 'llama' }, 'relevance'],
  ['a list without words by downloads', { tag: 'chat' }, 'downloads'],
  ['a chosen order is kept', { q: 'llama', sort: 'likes' }, 'likes'],
  ['also the one of a list without words', { q: 'llama', sort: 'downloads' }, 'downloads'],
  ['relevance needs words', { sort: 'relevance' }, 'downloads'],
  ['an unknown order is ignored', { q: 'llama', sort: 'x' }, 'relevance'],
])('%s', (_, parameters, sort) => {
  const search = readModelsSearch(parameters)
  expect(filterFrom(search).sort).toBe(sort)
  expect(sortsFor(search).map(({ value }) => value)).toContain(sort)
})

test('the default order is not in the address', () => {
  expect(readModelsSearch({ q: 'llama', sort: 'relevance' })).toEqual({ q: 'llama' })
  expect(readModelsSearch({ sort: 'downloads' })).toEqual({})
})
