import { expect, test } from 'vitest'
import { formatAge, formatSeconds } from './times.ts'

test.each([
  ['2026-03-01T00:00:00Z', 'just now'],
  ['2026-02-28T23:40:00Z', '20 min ago'],
  ['2026-02-28T19:00:00Z', '5 h ago'],
  ['2026-02-01T00:00:00Z', '28 days ago'],
  ['2025-11-01T00:00:00Z', '4 months ago'],
  ['2023-03-01T00:00:00Z', '3 years ago'],
])('the age of %s is “%s”', (time, text) => {
  expect(formatAge(time, Date.parse('2026-03-01T00:00:00Z'))).toBe(text)
})

test('seconds are formatted as minutes and hours', () => {
  expect([23, 240, 4_800].map(formatSeconds)).toEqual(['23 s', '4 min', '1 h 20 min'])
})
