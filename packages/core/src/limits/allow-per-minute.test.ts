import { expect, test } from 'vitest'
import { allowPerMinute } from './allow-per-minute.ts'

test('the packets from one address are limited per minute', () => {
  const isAllowed = allowPerMinute({ each: 2, all: 10 })
  expect([0, 1, 2, 59_999].map((now) => isAllowed('a', now))).toEqual([true, true, false, false])
  expect(isAllowed('b', 59_999)).toBe(true)
  expect(isAllowed('a', 60_000)).toBe(true)
})

test('the packets from all addresses together are limited', () => {
  const isAllowed = allowPerMinute({ each: 2, all: 3 })
  const allowed = ['a', 'b', 'c', 'd', 'e'].filter((address) => isAllowed(address, 0))
  expect(allowed).toEqual(['a', 'b', 'c'])
})
