import { mebibyte } from '@shoal/core/units'
import { expect, test } from 'vitest'
import { chunkCount, chunkRange, chunkSizeFor, pieceLengthFor } from './chunk-sizes.ts'

const gibibyte = 1024 * mebibyte

test('the chunk size is 16 MiB, doubled until the file has at most 10,000 chunks', () => {
  const most = 10_000 * 16 * mebibyte
  expect(chunkSizeFor(1)).toBe(16 * mebibyte)
  expect(chunkSizeFor(most)).toBe(16 * mebibyte)
  expect(chunkSizeFor(most + 1)).toBe(32 * mebibyte)
  expect(chunkCount(most)).toBe(10_000)
  expect(chunkCount(most + 1)).toBe(5001)
})

test('the piece length grows with the file size, from 1 MiB to 16 MiB', () => {
  expect(pieceLengthFor(1)).toBe(mebibyte)
  expect(pieceLengthFor(2 * gibibyte)).toBe(mebibyte)
  expect(pieceLengthFor(2 * gibibyte + 1)).toBe(2 * mebibyte)
  expect(pieceLengthFor(40 * gibibyte)).toBe(16 * mebibyte)
  expect(pieceLengthFor(4000 * gibibyte)).toBe(16 * mebibyte)
})

test('no piece spans two chunks, for any file size', () => {
  for (let size = 1; size < 2 ** 50; size = Math.ceil(size * 1.7)) {
    expect(chunkSizeFor(size) % pieceLengthFor(size)).toBe(0)
  }
})

test('the chunks of a file are contiguous and cover the whole file', () => {
  const size = 33 * mebibyte
  expect(chunkRange(0, size)).toEqual({ start: 0, size: 16 * mebibyte })
  expect(chunkRange(2, size)).toEqual({ start: 32 * mebibyte, size: mebibyte })
  expect(() => chunkRange(3, size)).toThrow('a file of 34603008 bytes has no chunk 3')
  expect(() => chunkRange(-1, size)).toThrow(RangeError)
})
