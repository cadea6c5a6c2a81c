import { expect, test } from 'vitest'
import { cacheBytesPerToken, memoryWithContext } from './context-memory.ts'
import { computeMemory, ruleOfThumb } from './memory.ts'

const llama8b = {
  layers: 32,
  embedding_length: 4096,
  heads: 32,
  kv_heads: 8,
  key_length: 128,
  value_length: 128,
  vocabulary_size: 128_256,
}

test('the memory for another context length is that of computeMemory', () => {
  const metadata = {
    'general.architecture': 'llama',
    'llama.block_count': 32,
    'llama.attention.head_count_kv': 8,
    'llama.attention.key_length': 128,
    'llama.attention.value_length': 128,
  }
  const bytesPerToken = cacheBytesPerToken(metadata)
  expect(bytesPerToken).toBe(128 * 1024)
  const sizeBytes = 5e9
  const memoryAt = (contextLength: number) =>
    computeMemory(
      { dimensions: llama8b },
      { weightBytes: sizeBytes, contextLength, conversations: 1 },
    ).totalBytes
  const usual = { sizeBytes, memoryBytes: memoryAt(8192) }
  for (const tokens of [4096, 8192, 65_536]) {
    const context = { tokens, maxTokens: null, bytesPerToken }
    expect(memoryWithContext(usual, context)).toBeCloseTo(memoryAt(tokens), -1)
  }
})

test('a context longer than that of the model is not used', () => {
  const file = { sizeBytes: 5e9, memoryBytes: 6e9 }
  const context = { tokens: 65_536, maxTokens: 4096, bytesPerToken: 1000 }
  expect(memoryWithContext(file, context)).toBe(6e9)
})

test('without a header, the memory of the context is a share of the size of the file', () => {
  expect(cacheBytesPerToken({ 'general.architecture': 'llama' })).toBeUndefined()
  const file = { sizeBytes: 5e9, memoryBytes: ruleOfThumb(5e9) }
  const context = { tokens: 16_384, maxTokens: null, bytesPerToken: undefined }
  expect(memoryWithContext(file, context)).toBe(ruleOfThumb(5e9) + 0.6e9)
})
