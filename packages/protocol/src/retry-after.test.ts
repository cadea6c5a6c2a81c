import { expect, test } from 'vitest'
import { parseRetryAfter } from './retry-after.ts'

test('Retry-After contains seconds or a date', () => {
  expect(parseRetryAfter('3')).toBe(3)
  expect(parseRetryAfter(' 0 ')).toBe(0)
  const later = parseRetryAfter(new Date(Date.now() + 60_000).toUTCString())
  expect(later).toBeGreaterThan(50)
  expect(later).toBeLessThanOrEqual(60)
  expect(parseRetryAfter('Fri, 01 Jan 2021 00:00:00 GMT')).toBe(0)
})

test('a missing or invalid Retry-After is ignored', () => {
  for (const text of [undefined, null, '', '-1', '1.5', '5 minutes', 'soon']) {
    expect(parseRetryAfter(text), String(text)).toBeUndefined()
  }
})
