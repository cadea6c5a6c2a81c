import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type GgufInput, makeGguf } from '../testing/make-gguf.ts'
import { parseBytes } from '../testing/parse-bytes.ts'
import { extractFacts } from './gguf-facts.ts'
import { readGgufFile } from './gguf-file.ts'

const models = new URL('../../../../models/', import.meta.url)

async function factsOfMade(input: GgufInput, filename = 'model.gguf') {
  return extractFacts(await parseBytes(makeGguf(input)), filename)
}

test.for([
  ['shoal-tiny', 'Q8_0', 5_246_208, 512],
  ['shoal-tiny', 'Q4_0', 5_246_208, 512],
] as const)('the facts about %s %s', async ([name, quantization, parameters, contextLength]) => {
  const filename = `${name}-${quantization}.gguf`
  const header = await readGgufFile(fileURLToPath(new URL(`${name}/${filename}`, models)))
  const facts = extractFacts(header, filename)
  expect(facts).toMatchObject({
    architecture: 'llama',
    name: 'Shoal Tiny',
    license: 'apache-2.0',
    role: 'model',
    shard: null,
    quantization,
    parameter_count: parameters,
    context_length: contextLength,
    dimensions: {
      layers: 6,
      embedding_length: 256,
      heads: 4,
      kv_heads: 2,
      key_length: 64,
      value_length: 64,
      vocabulary_size: 2048,
    },
  })
  expect(facts.chat_template).toContain('<|im_start|>')
  expect(facts.tensor_summary.types[quantization]?.count).toBeGreaterThan(40)
})

const q4k = { name: 'blk.0.ffn_up.weight', shape: [256, 64], type: 'Q4_K' }
const f32 = { name: 'blk.0.ffn_norm.weight', shape: [256], type: 'F32' }

test('the quantization is read from general.file_type, else from the tensor type with the most bytes, else from the filename', async () => {
  const typed = { metadata: { 'general.file_type': 15 }, tensors: [q4k, f32] }
  expect(await factsOfMade(typed)).toMatchObject({ quantization: 'Q4_K_M' })
  const guessed = { metadata: { 'general.file_type': 1024 + 7 } }
  expect(await factsOfMade(guessed)).toMatchObject({ quantization: 'Q8_0' })
  expect(await factsOfMade({ tensors: [f32, q4k] })).toMatchObject({ quantization: 'Q4_K' })
  expect(await factsOfMade({}, 'm-IQ2_XXS.gguf')).toMatchObject({ quantization: 'IQ2_XXS' })
  expect(await factsOfMade({})).toMatchObject({ quantization: 'unknown' })
})

test('a shard is recognized by its header or filename and needs no architecture', async () => {
  const split = {
    'split.no': { type: 'u16', value: 1 },
    'split.count': { type: 'u16', value: 3 },
  } as const
  expect(await factsOfMade({ metadata: split })).toMatchObject({
    role: 'shard',
    shard: { index: 2, count: 3 },
    architecture: null,
    context_length: null,
    parameter_count: null,
  })
  expect(await factsOfMade({}, 'big-Q8_0-00002-of-00009.gguf')).toMatchObject({
    role: 'shard',
    shard: { index: 2, count: 9 },
    quantization: 'Q8_0',
  })
  expect(await factsOfMade({}, 'whole-00001-of-00001.gguf')).toMatchObject({
    role: 'model',
    shard: null,
  })
})

test('files that cannot be run are distinguished from models', async () => {
  const findRole = async (metadata: GgufInput['metadata'], filename?: string) =>
    (await factsOfMade({ metadata: metadata ?? {} }, filename)).role
  expect(await findRole({ 'general.type': 'mmproj' })).toBe('mmproj')
  expect(await findRole({ 'general.architecture': 'clip' })).toBe('mmproj')
  expect(await findRole({}, 'mmproj-model-f16.gguf')).toBe('mmproj')
  expect(await findRole({ 'general.type': 'adapter' })).toBe('adapter')
  expect(await findRole({ 'general.type': 'model' }, 'mmproj-model-f16.gguf')).toBe('model')
  expect(await findRole({ 'general.type': 'imatrix' })).toBe('imatrix')
  expect(await findRole({ 'imatrix.chunk_count': 3 })).toBe('imatrix')
  expect(await findRole({ 'general.architecture': 'controlvector' })).toBe('control-vector')
  const words = { 'tokenizer.ggml.tokens': ['a', 'b'] }
  expect(await findRole(words)).toBe('vocabulary')
  expect(await factsOfMade({ metadata: words, tensors: [f32] })).toMatchObject({ role: 'model' })
})

test('heads may differ between layers', async () => {
  const metadata = {
    'general.architecture': 'openelm',
    'openelm.attention.head_count': [12, 16],
    'openelm.attention.head_count_kv': [3, 4],
    'openelm.attention.key_length': 64,
  }
  const { dimensions } = await factsOfMade({ metadata })
  expect(dimensions).toMatchObject({ heads: [12, 16], kv_heads: [3, 4], key_length: 64 })
})

test('negative counts are ignored', async () => {
  const metadata = {
    'general.architecture': 'llama',
    'llama.attention.head_count_kv': { type: 'i32' as const, value: [8, -800, 8] },
    'llama.block_count': -3,
  }
  const { dimensions } = await factsOfMade({ metadata })
  expect(dimensions).toMatchObject({ kv_heads: null, layers: null })
})

test('the metadata is JSON that PostgreSQL accepts', async () => {
  const { metadata } = await factsOfMade({
    metadata: {
      'nul\0key': 'a\0b',
      big: 2n ** 63n,
      nan: { type: 'f32', value: Number.NaN },
      infinite: { type: 'f64', value: Number.POSITIVE_INFINITY },
      tags: ['x\0', 'y'],
      __proto__x: 1,
      tokens: Array.from({ length: 1000 }, (_, index) => `${index}`),
    },
  })
  expect(metadata).toEqual({
    nulkey: 'ab',
    big: '9223372036854775808',
    nan: null,
    infinite: null,
    tags: ['x', 'y'],
    __proto__x: 1,
    tokens: { type: 'string', length: 1000, items: ['0', '1', '2', '3', '4', '5', '6', '7'] },
  })
  expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata)
})
