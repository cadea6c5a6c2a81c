import { expect, test } from 'vitest'
import { findQuantizationInFilename, splitAtQuantizations } from './quantization.ts'
import { findShardInFilename } from './shards.ts'

test.for([
  ['Llama-3-8B-Instruct-Q4_K_M.gguf', 'Q4_K_M'],
  ['llama-3-8b.q8_0.gguf', 'Q8_0'],
  ['gemma-3-27b-it-UD-Q4_K_XL.gguf', 'Q4_K_XL'],
  ['m-IQ3_XXS-00001-of-00002.gguf', 'IQ3_XXS'],
  ['gpt-oss-20b-MXFP4.gguf', 'MXFP4'],
  ['mmproj-model-f16.gguf', 'F16'],
  ['phi-4-fp16.gguf', 'F16'],
  ['bitnet-TQ2_0.gguf', 'TQ2_0'],
  ['from-BF16-to-Q6_K.gguf', 'Q6_K'],
  ['FAQ4_0bot.gguf', undefined],
  ['model.gguf', undefined],
] as const)('the quantization in %s is %s', ([filename, quantization]) => {
  expect(findQuantizationInFilename(filename)).toBe(quantization)
})

test('a name is split at the quantizations in it', () => {
  expect(splitAtQuantizations('shoal pull tide:Q4_K_M')).toEqual(['shoal pull tide:', 'Q4_K_M', ''])
  expect(splitAtQuantizations('tide-f16-iq3_xxs.gguf')).toEqual([
    'tide-',
    'f16',
    '-',
    'iq3_xxs',
    '.gguf',
  ])
  expect(splitAtQuantizations('abf16Q4_0x')).toEqual(['abf16Q4_0x'])
})

test('a shard is recognized by the end of its filename; shards are counted from 1', () => {
  expect(findShardInFilename('m-00002-of-00005.gguf')).toEqual({ index: 2, count: 5 })
  expect(findShardInFilename('m-00006-of-00005.gguf')).toBeUndefined()
  expect(findShardInFilename('m-00000-of-00005.gguf')).toBeUndefined()
  expect(findShardInFilename('m-2-of-5.gguf')).toBeUndefined()
  expect(findShardInFilename('m.gguf')).toBeUndefined()
})
