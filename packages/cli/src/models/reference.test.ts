import { fileSetExamples } from '@shoal/core/testing'
import { fileChoices } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { parseModelId, readReference } from './reference.ts'

test.each([
  ['tide-7b', undefined, 'tide-7b', undefined],
  ['Tide-7B:q4_k_m', undefined, 'tide-7b', 'q4_k_m'],
  ['localhost:8000/shoal-tiny:Q8_0', 'localhost:8000', 'shoal-tiny', 'Q8_0'],
  ['gpubox/tide-7b', 'gpubox', 'tide-7b', undefined],
  ['[::1]:8000/tide-7b', '[::1]:8000', 'tide-7b', undefined],
  ['http://localhost:8000/m/tide-7b', 'http://localhost:8000', 'tide-7b', undefined],
  ['https://models.example.org/m/tide-7b/', 'https://models.example.org', 'tide-7b', undefined],
  ['https://example.org/shoal/m/tide-7b:F16', 'https://example.org/shoal', 'tide-7b', 'F16'],
])('%s is parsed', (text, registry, name, quantization) => {
  expect(readReference(text)).toEqual({ registry, name, quantization })
})

test.each([
  '',
  'a',
  'two words',
  '-tide',
  'tide:',
  'tide:Q4:Q5',
  'http://host',
  '../../etc',
  'a//b',
])('“%s” is refused', (text) => {
  expect(() => readReference(text)).toThrow('is not a valid model name')
})

test('a reference with the label of a listed file refers to that file', () => {
  for (const files of fileSetExamples()) {
    for (const { label } of fileChoices(files, ({ file_size_bytes }) => file_size_bytes)) {
      expect(readReference(`tide:${label}`), label).toMatchObject({
        name: 'tide',
        quantization: label,
      })
      expect(parseModelId(`localhost:8000/tide:${label}`)).toBe(`localhost:8000/tide:${label}`)
    }
  }
})

test('latest means the default file, including in IDs for the daemon', () => {
  expect(readReference('Tide:Latest')).toMatchObject({ quantization: undefined, isLatest: true })
  expect(parseModelId('tide:latest')).toBe('tide')
})
