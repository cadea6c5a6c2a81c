import type { GgufFacts } from '@shoal/model-file'
import { expect, test } from 'vitest'
import { type ContextPlan, createContextPlanner } from './contexts.ts'
import type { LocalModel } from './local-models.ts'

const GB = 1e9

/** A model whose keys and values take 131,072 bytes for each token, and whose weights take 4 GB. */
function makeModel(maxLength: number | null): LocalModel {
  const dimensions: GgufFacts['dimensions'] = {
    layers: 32,
    embedding_length: 4_096,
    heads: 32,
    kv_heads: 8,
    key_length: 128,
    value_length: 128,
    vocabulary_size: 128_256,
  }
  return { facts: { context_length: maxLength, dimensions }, fileSizeBytes: 4 * GB } as never
}

function plan(
  {
    max = 131_072,
    wanted,
    set,
    memoryBytes = 400 * GB,
  }: Partial<Record<'max' | 'wanted' | 'set' | 'memoryBytes', number>>,
  freeBytes: number,
): ContextPlan {
  const planner = createContextPlanner({ contextLength: set, slots: 4, memoryBytes })
  return planner.planContext(makeModel(max), wanted, freeBytes)
}

test.each([
  [400 * GB, 65_536, 4],
  [64 * GB, 65_536, 4],
  [32 * GB, 65_536, 2],
  [24 * GB, 32_768, 3],
  [12 * GB, 16_384, 2],
  [9 * GB, 8_192, 2],
  [5 * GB, 8_192, 1],
])(
  'with %d bytes of free memory, the default context length is %d, for %d conversations',
  (freeBytes, contextLength, slots) => {
    const chosen = plan({}, freeBytes)
    expect(chosen).toMatchObject({ contextLength, slots })
    expect(chosen.contextReason).toMatch(/--context-length/)
  },
)

test("the context length is capped at the model's own maximum", () => {
  expect(plan({ max: 20_000 }, 400 * GB)).toMatchObject({
    contextLength: 20_000,
    contextReason: "the model's maximum",
  })
})

test('a configured or requested length is used regardless of the free memory', () => {
  expect(plan({ set: 4_096 }, 400 * GB).contextLength).toBe(4_096)
  expect(plan({ set: 4_096, wanted: 131_072 }, 8 * GB).contextLength).toBe(131_072)
  expect(plan({ wanted: 10 ** 6 }, 8 * GB).contextLength).toBe(131_072)
  expect(plan({ wanted: 1 }, 8 * GB).contextLength).toBe(64)
})
