import { expect, test } from 'vitest'
import { isModelFilename } from './filename.ts'
import { isModelName, suggestModelName } from './model-name.ts'
import { isReservedName } from './reserved-name.ts'

test('a model name can be part of a URL', () => {
  for (const name of ['ab', 'tide-7b', 'a.b_c', 'a'.repeat(96)])
    expect(isModelName(name)).toBe(true)
  for (const name of ['a', '-ab', 'ab.', 'A1', 'a b', 'ä1', 'a'.repeat(97), 'ab\n']) {
    expect(isModelName(name), name).toBe(false)
  }
})

test('the names of Windows devices are reserved, with any extension', () => {
  for (const name of ['con', 'Nul.gguf', 'aux .q8.gguf', 'com1.gguf', 'lpt9']) {
    expect(isReservedName(name), name).toBe(true)
  }
  for (const name of ['conch', 'console.gguf', 'com.gguf', 'com10.gguf', 'my.con', 'nul-1']) {
    expect(isReservedName(name), name).toBe(false)
  }
})

test('a filename is safe on every file system', () => {
  for (const name of ['a.gguf', 'Tide F32 (1).gguf', 'a+b.gguf']) {
    expect(isModelFilename(name), name).toBe(true)
  }
  for (const name of ['.gguf', '../a.gguf', 'a.GGUF', 'a:b.gguf', `${'a'.repeat(242)}.gguf`]) {
    expect(isModelFilename(name), name).toBe(false)
  }
})

test.each([
  ['Tide-7B-Q8_0', 'Q8_0', 'tide-7b'],
  ['Tide (new)', 'Q8_0', 'tide-new'],
  ['_tide_q4_k_m', 'Q4_K_M', 'tide'],
])('%s in %s suggests %s', (stem, quantization, name) => {
  expect(suggestModelName({ stem, quantization })).toBe(name)
})
