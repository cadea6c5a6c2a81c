import { expect, test } from 'vitest'
import type { GgufDimensions } from '../gguf/gguf-dimensions.ts'
import { extractFacts, type GgufFacts } from '../gguf/gguf-facts.ts'
import { makeGguf } from '../testing/make-gguf.ts'
import { parseBytes } from '../testing/parse-bytes.ts'
import { computeMemory, findFileMemory, memoryToRun, ruleOfThumb } from './memory.ts'

const llama8b: GgufDimensions = {
  layers: 32,
  embedding_length: 4096,
  heads: 32,
  kv_heads: 8,
  key_length: 128,
  value_length: 128,
  vocabulary_size: 128_256,
}
const nothing: GgufDimensions = {
  layers: null,
  embedding_length: null,
  heads: null,
  kv_heads: null,
  key_length: null,
  value_length: null,
  vocabulary_size: null,
}

test('the cache of Llama 3 8B takes 128 KiB per token', () => {
  const use = { weightBytes: 4.92e9, contextLength: 8192, conversations: 1 }
  const need = computeMemory({ dimensions: llama8b }, use)
  expect(need.cacheBytes).toBe(8192 * 128 * 1024)
  expect(need.totalBytes).toBeGreaterThan(6e9)
  expect(need.totalBytes).toBeLessThan(6.7e9)
})

test('if the number of heads differs between layers, the numbers are added up', () => {
  const dimensions = { ...llama8b, layers: 3, kv_heads: [8, 0, 4] }
  const use = { weightBytes: 1e9, contextLength: 1000, conversations: 2 }
  expect(computeMemory({ dimensions }, use).cacheBytes).toBe(12 * 256 * 2 * 2000)
})

test('a model without attention stores no keys and values', () => {
  const dimensions = { ...llama8b, heads: 0, kv_heads: 0, key_length: null, value_length: null }
  const use = { weightBytes: 1e9, contextLength: 8192, conversations: 4 }
  expect(computeMemory({ dimensions }, use).cacheBytes).toBe(0)
})

test('a large vocabulary adds memory', () => {
  const use = { weightBytes: 2e9, contextLength: 8192, conversations: 1 }
  const computeOverhead = (vocabulary_size: number) =>
    computeMemory({ dimensions: { ...llama8b, vocabulary_size } }, use).overheadBytes
  const difference = computeOverhead(256_000) - computeOverhead(32_000)
  expect(difference).toBeGreaterThan(200e6)
  expect(difference).toBeLessThan(300e6)
})

test('without dimensions in the header, the memory is estimated from the file size', () => {
  const use = { weightBytes: 5e9, contextLength: 8192, conversations: 1 }
  const { totalBytes } = computeMemory({ dimensions: nothing }, use)
  expect(Math.round(totalBytes)).toBe(ruleOfThumb(5e9))
  const known = computeMemory({ dimensions: llama8b }, use).totalBytes
  expect(Math.abs(ruleOfThumb(5e9) / known - 1)).toBeLessThan(0.1)
})

test('memoryToRun assumes one conversation of 8192 tokens, or of the context length if that is shorter', () => {
  const toRun = (context_length: number | null) =>
    memoryToRun({ dimensions: llama8b, context_length }, 5e9)
  const perToken = 128 * 1024
  expect(toRun(131_072)).toBe(toRun(8192))
  expect(toRun(null)).toBe(toRun(8192))
  expect(toRun(8192) - toRun(512)).toBe((8192 - 512) * perToken)
})

const model: Pick<GgufFacts, 'role' | 'shard' | 'dimensions' | 'context_length'> = {
  role: 'model',
  shard: null,
  dimensions: llama8b,
  context_length: 8192,
}
const part = (index: number) => ({
  ...model,
  role: 'shard' as const,
  shard: { index, count: 3 },
  ...(index > 1 && { dimensions: nothing, context_length: null }),
})

test('the parts of a split model add up to the memory of the whole model', () => {
  const sizes = [2e9, 1.9e9, 1.1e9]
  const parts = sizes.map((size, index) => findFileMemory(part(index + 1), size) ?? Number.NaN)
  expect(parts.reduce((sum, one) => sum + one)).toBe(findFileMemory(model, 5e9))
})

test('files that cannot run on their own or have too little information have no estimate', () => {
  expect(findFileMemory({ ...model, role: 'mmproj' }, 1e9)).toBeNull()
  expect(findFileMemory({ ...model, role: 'adapter' }, 1e9)).toBeNull()
  expect(findFileMemory({ ...model, dimensions: nothing }, 1e9)).toBeNull()
  expect(findFileMemory({ ...part(1), dimensions: nothing }, 1e9)).toBeNull()
})

test('a header with absurd numbers has no estimate', async () => {
  const metadata = {
    'general.architecture': 'llama',
    'llama.context_length': 4_000_000_000,
    'llama.embedding_length': 4_000_000_000,
    'llama.block_count': 4_000_000_000,
    'llama.attention.head_count': 1,
    'llama.attention.head_count_kv': 4_000_000_000,
  }
  const facts = extractFacts(await parseBytes(makeGguf({ metadata })), 'absurd.gguf')
  expect(findFileMemory(facts, 1e9)).toBeNull()
})
