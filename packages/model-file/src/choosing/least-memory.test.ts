import { expect, test } from 'vitest'
import { computeMinimumMemory } from './least-memory.ts'

type Sample = Parameters<typeof computeMinimumMemory>[0][number]

const sample = (filename: string, memory_bytes: number | null, role: Sample['role'] = 'model') => ({
  filename,
  memory_bytes,
  role,
  quantization: 'Q8_0',
  file_size_bytes: 1e9,
})

test('the minimum memory of a model is that of its smallest file', () => {
  expect(computeMinimumMemory([sample('a.gguf', 3e9), sample('b.gguf', 2e9)])).toBe(2e9)
  expect(computeMinimumMemory([sample('a.gguf', 3e9), sample('b.gguf', null)])).toBe(3e9)
  expect(computeMinimumMemory([sample('b.gguf', null)])).toBeNull()
  expect(computeMinimumMemory([])).toBeNull()
})

test('a split file needs all its parts and is ignored if one is missing', () => {
  const [first, second] = [
    sample('a-00001-of-00002.gguf', 3e9, 'shard'),
    sample('a-00002-of-00002.gguf', 1e9, 'shard'),
  ] as const
  expect(computeMinimumMemory([first, second])).toBe(4e9)
  expect(computeMinimumMemory([second])).toBeNull()
  expect(computeMinimumMemory([{ ...first, memory_bytes: null }, second])).toBeNull()
  expect(computeMinimumMemory([sample('a-part-2.gguf', 1e9, 'shard')])).toBeNull()
})

test('projectors and adapters are ignored', () => {
  const others = [sample('mmproj.gguf', 1e6, 'mmproj'), sample('lora.gguf', 1e6, 'adapter')]
  expect(computeMinimumMemory([...others, sample('a.gguf', 3e9)])).toBe(3e9)
  expect(computeMinimumMemory(others)).toBeNull()
})
