import { expect, test } from 'vitest'
import { findBestFit, largestFileFor, memoryNeeded } from './fit.ts'

const choices = [
  { label: 'Q2_K', sizeBytes: 3e9 },
  { label: 'Q6_K', sizeBytes: 6.6e9 },
  { label: 'Q8_0', sizeBytes: 8.5e9 },
  { label: 'BF16', sizeBytes: 16e9 },
]

test.each([
  [16, 'Q8_0'],
  [9, 'Q6_K'],
  [64, 'Q8_0'],
  [5, 'Q2_K'],
  [3, undefined],
])('in %i GB the best fit is %s', (gigabytes, label) => {
  expect(findBestFit(choices, gigabytes * 1e9)?.label).toBe(label)
})

test('an original is the best fit only where there is nothing else', () => {
  expect(findBestFit([{ label: 'F16', sizeBytes: 1e9 }], 16e9)?.label).toBe('F16')
})

test('the largest file for a memory needs no more than it', () => {
  expect(memoryNeeded(largestFileFor(8e9))).toBeLessThanOrEqual(8e9)
  expect(largestFileFor(0.1e9)).toBe(0)
})
