import { expect, test } from 'vitest'
import { fileChoices, findChoice, missingParts, runnable } from './file-choices.ts'
import { findBestFit, memoryNeeded } from './fit.ts'

type Sample = {
  filename: string
  quantization: string | null
  size: number
  memory_bytes?: number | null
}

const choicesOf = (...files: Sample[]) => fileChoices(files, ({ size }) => size)
const sample = (filename: string, quantization: string | null, size = 1): Sample => ({
  filename,
  quantization,
  size,
})

test('the parts of a split file are one choice, in their order and with their whole size', () => {
  const [choice, ...others] = choicesOf(
    sample('tide-Q8_0-00002-of-00002.gguf', 'Q8_0', 5),
    sample('tide-Q8_0-00001-of-00002.gguf', 'Q8_0', 7),
  )
  expect(others).toEqual([])
  expect(choice).toMatchObject({ label: 'Q8_0', parts: 2, sizeBytes: 12 })
  expect(choice?.files.map(({ filename }) => filename)).toEqual([
    'tide-Q8_0-00001-of-00002.gguf',
    'tide-Q8_0-00002-of-00002.gguf',
  ])
})

test('the parts of a split file need their memory together, by their sizes where one is not told', () => {
  const parts = [1, 2].map((part) => sample(`tide-0000${part}-of-00002.gguf`, 'Q8_0', 4e9))
  const [first, second] = parts as [Sample, Sample]
  const told = choicesOf({ ...first, memory_bytes: 5e9 }, { ...second, memory_bytes: 4e9 })
  expect(told[0]?.memoryBytes).toBe(9e9)
  const [untold] = choicesOf({ ...first, memory_bytes: 5e9 }, { ...second, memory_bytes: null })
  expect(untold?.memoryBytes).toBe(memoryNeeded({ file_size_bytes: 8e9 }))
})

test('a projector is never the best fit', () => {
  const choices = choicesOf(sample('mmproj-Q8_0.gguf', 'Q8_0', 9), sample('a-Q4_0.gguf', 'Q4_0', 2))
  expect(findBestFit(runnable(choices), 16e9)?.label).toBe('Q4_0')
})

test('choices stand by size, the smallest first', () => {
  const choices = choicesOf(sample('a-F16.gguf', 'F16', 9), sample('a-Q4_0.gguf', 'Q4_0', 2))
  expect(choices.map(({ label }) => label)).toEqual(['Q4_0', 'F16'])
})

test('a projector keeps its filename and cannot run by itself', () => {
  const choices = choicesOf(sample('mmproj-F16.gguf', 'F16'), sample('a-F16.gguf', 'F16', 9))
  expect(choices.map(({ label }) => label)).toEqual(['mmproj-F16', 'F16'])
  expect(runnable(choices).map(({ label }) => label)).toEqual(['F16'])
})

test('two files of one quantization are told apart by their names', () => {
  const choices = choicesOf(sample('a-Q4_0.gguf', 'Q4_0'), sample('b-Q4_0.gguf', 'Q4_0'))
  expect(choices.map(({ label }) => label)).toEqual(['a-Q4_0', 'b-Q4_0'])
  expect(findChoice(choices, 'B-Q4_0')?.label).toBe('b-Q4_0')
  expect(() => findChoice(choices, 'Q4_0')).toThrow('several files in Q4_0')
})

test('a file is found by its quantization in any case, or by its filename', () => {
  const choices = choicesOf(sample('tide-Q4_K_M.gguf', 'Q4_K_M'), sample('tide.gguf', null))
  expect(findChoice(choices, 'q4_k_m')?.label).toBe('Q4_K_M')
  expect(findChoice(choices, 'TIDE.GGUF')?.label).toBe('tide')
  expect(findChoice(choices, 'Q9')).toBeUndefined()
})

test('a split file is complete when each of its parts is there, and cannot run before', () => {
  const part = (number: number) => sample(`tide-Q8_0-0000${number}-of-00003.gguf`, 'Q8_0')
  const missingOf = (...numbers: number[]) => choicesOf(...numbers.map(part)).flatMap(missingParts)
  expect(missingOf(1, 2, 3)).toEqual([])
  expect(missingOf(2)).toEqual([1, 3])
  expect(missingOf(1, 2, 4)).toEqual([3])
  expect(runnable(choicesOf(part(1), part(2), part(4)))).toEqual([])
  expect(runnable(choicesOf(part(1), part(2), part(3)))).toHaveLength(1)
})
