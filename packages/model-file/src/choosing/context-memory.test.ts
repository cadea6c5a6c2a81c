import { expect, test } from 'vitest'
import { memoryWithContext, usualCacheBytesPerToken } from './context-memory.ts'
import { computeMemory, findFileCacheBytes, ruleOfThumb } from './memory.ts'

const llama8b = {
  layers: 32,
  embedding_length: 4096,
  heads: 32,
  kv_heads: 8,
  key_length: 128,
  value_length: 128,
  vocabulary_size: 128_256,
}

test('memoryWithContext agrees with computeMemory for every context length', () => {
  const facts = { role: 'model', shard: null, dimensions: llama8b } as const
  const bytesPerToken = findFileCacheBytes(facts) ?? 0
  expect(bytesPerToken).toBe(128 * 1024)
  const sizeBytes = 5e9
  const memoryAt = (contextLength: number) =>
    computeMemory(
      { dimensions: llama8b },
      { weightBytes: sizeBytes, contextLength, conversations: 1 },
    ).totalBytes
  for (const tokens of [4096, 8192, 65_536]) {
    const context = { tokens, maxTokens: null, bytesPerToken }
    expect(memoryWithContext(memoryAt(8192), context)).toBeCloseTo(memoryAt(tokens), -1)
  }
})

test('a context length above the model’s maximum adds no memory', () => {
  const context = { tokens: 65_536, maxTokens: 4096, bytesPerToken: 1000 }
  expect(memoryWithContext(6e9, context)).toBe(6e9)
})

test('files that add no keys and values have no memory per token', () => {
  const dimensions = llama8b
  for (const role of ['mmproj', 'adapter'] as const) {
    expect(findFileCacheBytes({ role, shard: null, dimensions })).toBeNull()
  }
  const shard = (index: number) => ({
    role: 'shard' as const,
    shard: { index, count: 2 },
    dimensions,
  })
  expect(findFileCacheBytes(shard(1))).toBe(128 * 1024)
  expect(findFileCacheBytes(shard(2))).toBeNull()
  const unsafe = { ...llama8b, key_length: 1e15 }
  expect(findFileCacheBytes({ role: 'model', shard: null, dimensions: unsafe })).toBeNull()
})

test('without a header, the memory for the context is estimated as a share of the file size', () => {
  const bytesPerToken = usualCacheBytesPerToken(5e9)
  const context = { tokens: 16_384, maxTokens: null, bytesPerToken }
  expect(memoryWithContext(ruleOfThumb(5e9), context)).toBe(ruleOfThumb(5e9) + 0.6e9)
})
