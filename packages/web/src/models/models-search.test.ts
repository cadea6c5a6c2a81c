import { expect, test } from 'vitest'
import { criteriaFrom, filterFrom } from './criteria.ts'
import { readModelsSearch, sortsFor } from './models-search.ts'

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

test('a page is a whole number, and the first page is omitted from the URL', () => {
  expect(readModelsSearch({ page: '2' })).toEqual({ page: 2 })
  for (const page of ['1', '0', '1.5', 'x']) expect(readModelsSearch({ page })).toEqual({})
})

test('the default sort order is omitted from the URL', () => {
  expect(readModelsSearch({ q: 'llama', sort: 'relevance' })).toEqual({ q: 'llama' })
  expect(readModelsSearch({ sort: 'downloads' })).toEqual({})
})

test('a context length requires a memory size, and the usual context length is omitted from the URL', () => {
  expect(readModelsSearch({ fits: '16', context: '32768' })).toEqual({ fits: 16, context: 32_768 })
  expect(readModelsSearch({ fits: '16', context: '8192' })).toEqual({ fits: 16 })
  expect(readModelsSearch({ fits: '16', context: '1000' })).toEqual({ fits: 16 })
  expect(readModelsSearch({ context: '32768' })).toEqual({})
  expect(criteriaFrom({ fits: 16, context: 32_768 })).toMatchObject({ context_length: 32_768 })
})

test('several tags and a range of sizes are read from the URL', () => {
  const search = readModelsSearch({ tag: ['chat', 'code', 'chat', ''], min: '1', max: '8' })
  expect(search).toEqual({ tag: ['chat', 'code'], min: 1, max: 8 })
  expect(criteriaFrom(search)).toEqual({
    tag: ['chat', 'code'],
    min_parameters: 1e9,
    max_parameters: 8e9,
  })
  expect(readModelsSearch({ tag: 'chat', min: '7', max: 'x', fits: ['8', '16'] })).toEqual({
    tag: ['chat'],
  })
})
