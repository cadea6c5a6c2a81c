import { expect, test } from 'vitest'
import { decimalNumber, parseByteRate, parseKeepTime, parseLifetime } from './units.ts'

test('sizes and durations are parsed in common notations', () => {
  expect(['10MB', '1.5 GB', '800k', '10MB/s', '17'].map(parseByteRate)).toEqual([
    10e6, 1.5e9, 8e5, 10e6, 17,
  ])
  expect(parseLifetime('90d')).toBe(90 * 86_400)
  expect(['never', ' forever '].map(parseLifetime)).toEqual([undefined, undefined])
  expect(parseLifetime('100y')).toBe(100 * 365 * 86_400)
  expect(() => parseLifetime('200y')).toThrow('“200y” is more than 100 years')
  expect(() => parseByteRate('fast')).toThrow('“fast” is not a valid speed')
  expect(() => parseLifetime('90')).toThrow('“90” is not a valid lifetime')
})

test("a keep-alive time is converted to the daemon's format", () => {
  expect(['5m', '1h30m', '90', '0', 'forever'].map(parseKeepTime)).toEqual([
    '5m',
    '1h30m',
    '90',
    '0',
    -1,
  ])
  expect(() => parseKeepTime('a while')).toThrow('“a while” is not a valid keep-alive time')
})

test('numbers out of range are refused', () => {
  expect(['0', '0.7', '.5', '2'].map(decimalNumber(0, 2))).toEqual([0, 0.7, 0.5, 2])
  for (const text of ['2.1', '-1', '1e0', '']) {
    expect(() => decimalNumber(0, 2)(text)).toThrow('is not a number from 0 to 2')
  }
})
