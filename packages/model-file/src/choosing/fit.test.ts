import { expect, test } from 'vitest'
import { findBestFit, memoryNeeded, memoryOfMachine } from '../choices.ts'

const choices = [
  { label: 'Q2_K', sizeBytes: 3e9, memoryBytes: 4e9 },
  { label: 'Q6_K', sizeBytes: 6.6e9, memoryBytes: 8e9 },
  { label: 'Q8_0', sizeBytes: 8.5e9, memoryBytes: 10e9 },
  { label: 'BF16', sizeBytes: 16e9, memoryBytes: 18e9 },
]

test.each([
  [16, 'Q8_0'],
  [9, 'Q6_K'],
  [64, 'Q8_0'],
  [4, 'Q2_K'],
  [3.9, undefined],
])('with %f GB of memory, the best fit is %s', (gigabytes, label) => {
  expect(findBestFit(choices, gigabytes * 1e9)?.label).toBe(label)
})

test('an unquantized file is the best fit only if there are no other files', () => {
  const only = [{ label: 'F16', sizeBytes: 1e9, memoryBytes: 2e9 }]
  expect(findBestFit(only, 16e9)?.label).toBe('F16')
})

test("the memory for a file is the registry's estimate; if there is none, it is estimated from the file's size", () => {
  expect(memoryNeeded({ file_size_bytes: 5e9, memory_bytes: 6.1e9 })).toBe(6.1e9)
  expect(memoryNeeded({ file_size_bytes: 5e9, memory_bytes: null })).toBe(6.3e9)
  expect(memoryNeeded({ file_size_bytes: 5e9 })).toBe(6.3e9)
})

test.each([
  [2, 1.1],
  [8, 4.3],
  [16, 12.9],
  [64, 58.4],
])('models may use part of the memory of a machine with %i GB: %f GB', (gigabytes, available) => {
  expect(memoryOfMachine(gigabytes) / 1e9).toBeCloseTo(available, 1)
})
