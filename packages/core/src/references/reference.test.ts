import { expect, test } from 'vitest'
import { isLabel, parseReference, shellWord } from './reference.ts'

test.each([
  ['tide-7b', undefined, 'tide-7b', undefined],
  ['Tide-7B:q4_k_m', undefined, 'tide-7b', 'q4_k_m'],
  ['tide:TIDE F32 (1)', undefined, 'tide', 'TIDE F32 (1)'],
  ['tide:tide-q8_0.gguf', undefined, 'tide', 'tide-q8_0.gguf'],
  ['localhost:8000/shoal-tiny:Q8_0', 'localhost:8000', 'shoal-tiny', 'Q8_0'],
  ['localhost:8000/tide:a + b', 'localhost:8000', 'tide', 'a + b'],
  ['gpubox/tide-7b', 'gpubox', 'tide-7b', undefined],
  ['[::1]:8000/tide-7b', '[::1]:8000', 'tide-7b', undefined],
  ['http://localhost:8000/m/tide-7b', 'http://localhost:8000', 'tide-7b', undefined],
  ['https://models.example.org/m/tide-7b/', 'https://models.example.org', 'tide-7b', undefined],
  ['HTTP://Host/M/Tide-7B', 'HTTP://Host', 'tide-7b', undefined],
  ['https://example.org/shoal/m/tide-7b:F16', 'https://example.org/shoal', 'tide-7b', 'F16'],
])('%s is parsed', (text, registry, name, quantization) => {
  expect(parseReference(text)).toEqual({ registry, name, quantization })
})

test('`latest` means the default file', () => {
  for (const text of ['tide:latest', 'Tide:LATEST', 'host/tide:latest']) {
    expect(parseReference(text)).toMatchObject({
      name: 'tide',
      quantization: undefined,
      isLatest: true,
    })
  }
  expect(isLabel('Latest')).toBe(false)
})

test.each([
  '',
  'a',
  'two words',
  '-tide',
  'tide:',
  'tide: ',
  'tide:Q4:Q5',
  'tide:Q4\u0007',
  'tide:Q4\u202e',
  'tide: Q4 ',
  'http://host',
  '../../etc',
  'a//b',
  'http:/tide',
  'HTTPS:/tide',
  'host/?q=/tide',
  'host/#/tide',
  'user:pw@host/tide',
  'https://user:pw@host/m/tide',
])('“%s” is rejected', (text) => {
  expect(parseReference(text)).toBeUndefined()
})

test.each([
  ['tide:Q8_0', 'tide:Q8_0'],
  ['localhost:8000/tide', 'localhost:8000/tide'],
  ['[::1]:8000/tide', '"[::1]:8000/tide"'],
  ['tide:tide F32 (1)', '"tide:tide F32 (1)"'],
  ['tide:$(id)', "'tide:$(id)'"],
  ["tide:it's `id`", "'tide:it'\\''s `id`'"],
])('in a shell, %s is written as %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
})
