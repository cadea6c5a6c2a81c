import { fileSetExamples } from '@shoal/core/testing'
import { fileChoices } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { parseModelId, readReference } from './reference.ts'

test('a name that is not valid is refused', () => {
  expect(() => readReference('http://host')).toThrow('“http://host” is not a valid model name')
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
