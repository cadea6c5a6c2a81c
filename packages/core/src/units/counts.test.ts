import { expect, test } from 'vitest'
import { formatContext, formatCount, plural, shortList } from './counts.ts'

test('counts and context lengths are abbreviated', () => {
  expect([414_800, 3_900, 12, 7.2e9, 999_999].map(formatCount)).toEqual([
    '414.8K',
    '3.9K',
    '12',
    '7.2B',
    '1M',
  ])
  expect([512, 32_768, 131_072].map(formatContext)).toEqual(['512', '32K', '128K'])
  expect([1, 3].map((count) => plural(count, 'file'))).toEqual(['1 file', '3 files'])
  expect(plural(2_500, 'file', formatCount)).toBe('2.5K files')
})

test('long lists are shortened', () => {
  expect(shortList(['a', 'b'])).toBe('a, b')
  expect(shortList(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more')
})
