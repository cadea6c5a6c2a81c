import { expect, test } from 'vitest'
import { notSizes, sizeExamples } from '../testing/index.ts'
import { formatBytes, formatMachine, formatMemory, parseSize, parseSpeed } from './sizes.ts'

test.each([
  ['500G', 500e9],
  ['500GB', 500e9],
  ['1.5 gb', 1.5e9],
  ['800k', 8e5],
  ['.5TB', 5e11],
  ['1048576', 1_048_576],
  ['1e9', 1e9],
  ['0', 0],
  ['1.005kB', 1005],
])('%s is %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test('a size can be written in many ways', () => {
  for (const { text, bytes } of sizeExamples()) expect(parseSize(text), text).toBe(bytes)
})

test('a number without a unit has the default unit', () => {
  expect(parseSize('16', 'GB')).toBe(16e9)
  expect(parseSize('.5', 'GB')).toBe(5e8)
  expect(parseSize('16B', 'GB')).toBe(16)
  expect(parseSize('16MB', 'GB')).toBe(16e6)
})

test('a speed is a size with or without /s', () => {
  expect(['10MB/s', '10 MB /s', '10MB', '17'].map(parseSpeed)).toEqual([10e6, 10e6, 10e6, 17])
  expect(parseSize('10MB/s')).toBeUndefined()
})

test.each(['', ' ', '9'.repeat(400), 'Infinity', ...notSizes])('“%s” is not a size', (text) => {
  expect(parseSize(text)).toBeUndefined()
  expect(parseSpeed(text)).toBeUndefined()
})

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

test('formatted sizes can be parsed', () => {
  for (const { bytes } of sizeExamples()) {
    const read = parseSize(formatBytes(bytes)) ?? Number.NaN
    expect(Math.abs(read / bytes - 1), formatBytes(bytes)).toBeLessThan(0.006)
  }
})

test("memory is rounded to 0.1 GB or 10 MB, and a machine's memory to its advertised size", () => {
  expect([8.13e9, 134e6].map(formatMemory)).toEqual(['8.1 GB', '130 MB'])
  expect(formatMachine(16.5e9)).toBe('15 GB')
  expect(formatMachine(16 * 2 ** 30 - 5e8)).toBe('16 GB')
})
