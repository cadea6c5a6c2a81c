import { expect, test } from 'vitest'
import { defaultModelName } from './default-name.ts'

const named = (filename: string, quantization: string) => ({ filename, quantization })

test('the model name is the filename without quantization and part number', () => {
  expect(defaultModelName([named('Llama-3.2-1B-Instruct-Q4_K_M.gguf', 'Q4_K_M')])).toBe(
    'llama-3.2-1b-instruct',
  )
  expect(defaultModelName([named('tide.7b.Q8_0-00001-of-00002.gguf', 'Q8_0')])).toBe('tide.7b')
  expect(defaultModelName([named('My (new) model.gguf', 'F16')])).toBe('my-new-model')
})

test('several filenames must result in the same model name', () => {
  const files = [named('tide-Q4_0.gguf', 'Q4_0'), named('tide-F16.gguf', 'F16')]
  expect(defaultModelName(files)).toBe('tide')
  expect(() => defaultModelName([...files, named('wave-F16.gguf', 'F16')])).toThrow(
    'cannot be derived from the filenames',
  )
})
