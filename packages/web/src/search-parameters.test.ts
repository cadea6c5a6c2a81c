import { expect, test } from 'vitest'
import { formatSearch, parseSearch } from './search-parameters.ts'

test.each([
  ['?q=null', { q: 'null' }],
  ['?q=%22a%22', { q: '"a"' }],
  ['?tag=chat&tag=code&page=2', { tag: ['chat', 'code'], page: '2' }],
  ['?q=a+b%26c', { q: 'a b&c' }],
  ['', {}],
])('%s is read and written', (text, search) => {
  expect(parseSearch(text)).toEqual(search)
  expect(formatSearch(search)).toBe(text)
})

test('parameters that are not set are left out', () => {
  expect(formatSearch({ q: undefined, page: 2, images: true })).toBe('?page=2&images=true')
})
