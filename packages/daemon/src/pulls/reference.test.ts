import { fileSetExamples } from '@shoal/core/testing'
import { fileChoices } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { Fault } from '../errors.ts'
import { referenceTo } from './reference.ts'

const address = 'http://localhost:8000'

test('each listed label refers to its own file, with or without the registry in the reference', () => {
  for (const files of fileSetExamples()) {
    for (const { label } of fileChoices(files, ({ file_size_bytes }) => file_size_bytes)) {
      for (const text of [`tide:${label}`, `localhost:8000/Tide:${label}`]) {
        expect(referenceTo(address, text), text).toMatchObject({
          name: 'tide',
          quantization: label,
        })
      }
    }
  }
})

test.each([
  'tide',
  'tide:latest',
  'Localhost:8000/tide',
  'http://localhost:8000/tide:latest',
  'http://localhost:8000/m/tide',
])('%s refers to the default file', (text) => {
  expect(referenceTo(address, text)).toMatchObject({ name: 'tide', quantization: undefined })
})

test.each([
  [
    'tide:',
    "'tide:' is not a valid model name; valid names look like shoal-tiny or shoal-tiny:Q8_0",
  ],
  ['gpubox/tide', 'this daemon pulls from localhost:8000, not from gpubox'],
  ['https://localhost:8000/tide', 'not from https://localhost:8000'],
])('%s is rejected', (text, message) => {
  expect(() => referenceTo(address, text)).toThrow(Fault)
  expect(() => referenceTo(address, text)).toThrow(message)
})
