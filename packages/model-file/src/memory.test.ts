import { expect, test } from 'vitest'
import type { GgufDimensions } from './gguf-facts.ts'
import { memoryOf } from './memory.ts'

const llama8b: GgufDimensions = {
  layers: 32,
  embedding_length: 4096,
  heads: 32,
  kv_heads: 8,
  key_length: 128,
  value_length: 128,
}

test('the cache of Llama 3 8B takes 128 KiB a token', () => {
  const use = { weightBytes: 4.92e9, contextLength: 8192, conversations: 1 }
  const need = memoryOf({ dimensions: llama8b }, use)
  expect(need.cacheBytes).toBe(8192 * 128 * 1024)
  expect(need.totalBytes).toBeGreaterThan(6e9)
  expect(need.totalBytes).toBeLessThan(6.7e9)
})

test('heads that differ from layer to layer are added up', () => {
  const dimensions = { ...llama8b, layers: 3, kv_heads: [8, 0, 4] }
  const use = { weightBytes: 1e9, contextLength: 1000, conversations: 2 }
  expect(memoryOf({ dimensions }, use).cacheBytes).toBe(12 * 256 * 2 * 2000)
})

test('a header that says nothing gets a rule of thumb', () => {
  const nothing = { ...llama8b, layers: null, embedding_length: null, kv_heads: null }
  const use = { weightBytes: 5e9, contextLength: 8192, conversations: 1 }
  const { cacheBytes } = memoryOf({ dimensions: nothing }, use)
  expect(cacheBytes).toBeGreaterThan(0.5e9)
  expect(cacheBytes).toBeLessThan(1.5e9)
})
