import { expect, test } from 'vitest'
import {
  decimalNumber,
  formatAge,
  formatBytes,
  formatContext,
  formatCount,
  formatMachine,
  formatSeconds,
  parseBytes,
  parseDuration,
  parseKeepTime,
  shortList,
} from './units.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.00 KB'],
  [973_440, '973 KB'],
  [999_600, '1.00 MB'],
  [92_400_000, '92.4 MB'],
  [999_999_999, '1.00 GB'],
  [6_600_000_000, '6.60 GB'],
  [15_200_000_000, '15.2 GB'],
  [2.5e12, '2.50 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('counts, contexts, times and machines are short', () => {
  expect([414_800, 3_900, 12, 7.2e9, 999_999].map(formatCount)).toEqual([
    '414.8K',
    '3.9K',
    '12',
    '7.2B',
    '1M',
  ])
  expect([512, 32_768, 131_072].map(formatContext)).toEqual(['512', '32K', '128K'])
  expect([23, 240, 4_800].map(formatSeconds)).toEqual(['23 s', '4 min', '1 h 20 min'])
  expect(formatMachine(16.5e9)).toBe('15 GB')
  expect(formatMachine(16 * 2 ** 30 - 5e8)).toBe('16 GB')
  const now = Date.parse('2026-03-01T00:00:00Z')
  expect(formatAge('2026-02-01T00:00:00Z', now)).toBe('28 days ago')
})

test('sizes and times are read as people write them', () => {
  expect(['10MB', '1.5 GB', '800k', '10MB/s', '17'].map(parseBytes)).toEqual([
    10e6, 1.5e9, 8e5, 10e6, 17,
  ])
  expect(parseDuration('90d')).toBe(90 * 86_400)
  expect(parseDuration('never')).toBeUndefined()
  expect(() => parseBytes('fast')).toThrow('“fast” is not a size')
  expect(() => parseDuration('90')).toThrow('“90” is not a time')
})

test('how long a model stays is read as the daemon takes it', () => {
  expect(['5m', '1h30m', '90', '0', 'forever'].map(parseKeepTime)).toEqual([
    '5m',
    '1h30m',
    '90',
    '0',
    -1,
  ])
  expect(() => parseKeepTime('a while')).toThrow('“a while” is not a time')
})

test('numbers have bounds, and long lists an end', () => {
  expect(['0', '0.7', '.5', '2'].map(decimalNumber(0, 2))).toEqual([0, 0.7, 0.5, 2])
  for (const text of ['2.1', '-1', '1e0', '']) {
    expect(() => decimalNumber(0, 2)(text)).toThrow('is not a number from 0 to 2')
  }
  expect(shortList(['a', 'b'])).toBe('a, b')
  expect(shortList(['a', 'b', 'c', 'd'], 2)).toBe('a, b and 2 more')
})
