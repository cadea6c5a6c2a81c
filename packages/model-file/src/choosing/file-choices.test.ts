import { parseReference } from '@shoal/core/references'
import { fileSetExamples } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import {
  defaultChoice,
  fileChoices,
  findChoices,
  missingFilenames,
  missingParts,
  runnable,
} from './file-choices.ts'
import { findBestFit, memoryNeeded } from './fit.ts'

type Sample = {
  filename: string
  quantization: string | null
  size: number
  memory_bytes?: number | null
}

const listChoices = (...files: Sample[]) => fileChoices(files, ({ size }) => size)
const sample = (filename: string, quantization: string | null, size = 1): Sample => ({
  filename,
  quantization,
  size,
})

const found = (choices: ReturnType<typeof listChoices>, wanted: string) =>
  findChoices(choices, wanted).map(({ label }) => label)

test('the parts of a split file are one choice, in order and with their total size', () => {
  const [choice, ...others] = listChoices(
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

test('the memory of a split file is the sum over its parts, or an estimate based on its total size if any part has no memory estimate', () => {
  const parts = [1, 2].map((part) => sample(`tide-0000${part}-of-00002.gguf`, 'Q8_0', 4e9))
  const [first, second] = parts as [Sample, Sample]
  const reported = listChoices({ ...first, memory_bytes: 5e9 }, { ...second, memory_bytes: 4e9 })
  expect(reported[0]?.memoryBytes).toBe(9e9)
  const [untold] = listChoices({ ...first, memory_bytes: 5e9 }, { ...second, memory_bytes: null })
  expect(untold?.memoryBytes).toBe(memoryNeeded({ file_size_bytes: 8e9 }))
})

test('a projector is never the best fit', () => {
  const choices = listChoices(
    sample('mmproj-Q8_0.gguf', 'Q8_0', 9),
    sample('a-Q4_0.gguf', 'Q4_0', 2),
  )
  expect(findBestFit(runnable(choices), 16e9)?.label).toBe('Q4_0')
})

test('choices are sorted by size, smallest first', () => {
  const choices = listChoices(sample('a-F16.gguf', 'F16', 9), sample('a-Q4_0.gguf', 'Q4_0', 2))
  expect(choices.map(({ label }) => label)).toEqual(['Q4_0', 'F16'])
})

test('a projector keeps its filename and cannot run on its own', () => {
  const choices = listChoices(sample('mmproj-F16.gguf', 'F16'), sample('a-F16.gguf', 'F16', 9))
  expect(choices.map(({ label }) => label)).toEqual(['mmproj-F16', 'F16'])
  expect(runnable(choices).map(({ label }) => label)).toEqual(['F16'])
})

test('two files with the same quantization have different labels', () => {
  const choices = listChoices(sample('a-Q4_0.gguf', 'Q4_0'), sample('b-Q4_0.gguf', 'Q4_0'))
  expect(choices.map(({ label }) => label)).toEqual(['a-Q4_0', 'b-Q4_0'])
  expect(found(choices, 'B-Q4_0')).toEqual(['b-Q4_0'])
})

test('a quantization matches all files that have it, and the best fit is the default', () => {
  const choices = listChoices(
    sample('a-Q4_0.gguf', 'Q4_0', 2),
    sample('b-Q4_0.gguf', 'Q4_0', 5e9),
    sample('c-Q4_0.gguf', 'Q4_0', 9e9),
    sample('mmproj-Q4_0.gguf', 'Q4_0', 1),
  )
  const alike = findChoices(choices, 'q4_0')
  expect(alike).toHaveLength(4)
  expect(defaultChoice(alike, 8e9)?.label).toBe('b-Q4_0')
  expect(defaultChoice(alike, 1)?.label).toBe('a-Q4_0')
  expect(defaultChoice(findChoices(choices, 'mmproj-q4_0'), 8e9)?.label).toBe('mmproj-Q4_0')
  expect(defaultChoice([], 8e9)).toBeUndefined()
})

test('a quantization takes precedence over a filename', () => {
  const choices = listChoices(
    sample('Q8_0.gguf', 'F16'),
    sample('x-Q8_0.gguf', 'Q8_0'),
    sample('y-Q8_0.gguf', 'Q8_0'),
  )
  expect(found(choices, 'Q8_0')).toEqual(['x-Q8_0', 'y-Q8_0'])
  expect(found(choices, 'F16')).toEqual(['F16'])
  expect(found(choices, 'Q8_0.gguf')).toEqual(['F16'])
})

test('names that differ only in case are distinguished by an exact match', () => {
  const choices = listChoices(sample('ab.gguf', null), sample('AB.gguf', null))
  expect(found(choices, 'ab')).toEqual(['ab.gguf'])
  expect(found(choices, 'AB')).toEqual(['AB.gguf'])
  expect(found(choices, 'AB.gguf')).toEqual(['AB.gguf'])
  expect(found(choices, 'Ab')).toEqual(['ab.gguf', 'AB.gguf'])
})

test('a file is found by its quantization, regardless of case, or by its filename', () => {
  const choices = listChoices(sample('tide-Q4_K_M.gguf', 'Q4_K_M'), sample('tide.gguf', null))
  expect(found(choices, 'q4_k_m')).toEqual(['Q4_K_M'])
  expect(found(choices, 'TIDE.GGUF')).toEqual(['tide'])
  expect(found(choices, 'Q9')).toEqual([])
})

test('a split file can run only when it has all its parts', () => {
  const part = (number: number) => sample(`tide-Q8_0-0000${number}-of-00003.gguf`, 'Q8_0')
  const findMissing = (...numbers: number[]) =>
    listChoices(...numbers.map(part)).flatMap(missingParts)
  expect(findMissing(1, 2, 3)).toEqual([])
  expect(findMissing(2)).toEqual([1, 3])
  expect(findMissing(1, 2, 4)).toEqual([3])
  expect(runnable(listChoices(part(1), part(2), part(4)))).toEqual([])
  expect(runnable(listChoices(part(1), part(2), part(3)))).toHaveLength(1)
})

test('the missing parts of a split file are listed by name', () => {
  const part = sample('Tide-00002-of-00003-Q8_0-00002-of-00003.GGUF', 'Q8_0')
  expect(listChoices(part).flatMap(missingFilenames)).toEqual([
    'Tide-00002-of-00003-Q8_0-00001-of-00003.GGUF',
    'Tide-00002-of-00003-Q8_0-00003-of-00003.GGUF',
  ])
  expect(listChoices(sample('tide.gguf', 'Q8_0')).flatMap(missingFilenames)).toEqual([])
})

test('each label matches only its own choice, regardless of case', () => {
  for (const files of fileSetExamples()) {
    const choices = fileChoices(files, ({ file_size_bytes }) => file_size_bytes)
    for (const choice of choices) {
      for (const text of [choice.label, choice.label.toLowerCase()]) {
        const reference = parseReference(`localhost:8000/tide:${text}`)
        expect(reference, text).toMatchObject({ registry: 'localhost:8000', name: 'tide' })
        expect(findChoices(choices, reference?.quantization ?? ''), text).toEqual([choice])
      }
    }
  }
})

test('a label is the shortest name that no other choice has', () => {
  const labels = (...files: Sample[]) => listChoices(...files).map(({ label }) => label)
  expect(labels(sample('tide F32.gguf', 'F32'), sample('tide F32 (1).gguf', 'F32'))).toEqual([
    'tide F32',
    'tide F32 (1)',
  ])
  expect(labels(sample('a-F16.gguf', 'F16'), sample('F16.gguf', null))).toEqual(['a-F16', 'F16'])
  expect(labels(sample('latest.gguf', null))).toEqual(['latest.gguf'])
  const split = (part: number, count: number) => sample(`a-0000${part}-of-0000${count}.gguf`, 'F16')
  expect(labels(split(1, 2), split(2, 2), split(1, 3))).toEqual([
    'a-00001-of-00003',
    'a-00001-of-00002',
  ])
})
